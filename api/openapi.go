package api

import _ "embed"

//go:embed openapi.json
var openAPI string

// OpenAPI is the description of the API, OpenAPI 3.1 in JSON. A server gives it
// out at /openapi.json; `go generate ./server` writes it.
func OpenAPI() string { return openAPI }
