package fence

import (
	"net/http"
	"strconv"

	"github.com/duly-dev/duly"
)

// The headers that carry a grant in a request of Duly's.
const (
	headerToken      = "Duly-Fencing-Token"
	headerResource   = "Duly-Fencing-Resource"
	headerOccurrence = "Duly-Occurrence"
	headerAttempt    = "Duly-Attempt"
)

// FromHeader reads the grant of a request of Duly's. It answers false where the
// request carries neither token nor resource, and an error where it carries a
// broken one.
func FromHeader(h http.Header) (duly.Grant, bool, error) {
	return parse(func(name string) string { return h.Get(name) },
		headerToken, headerResource, headerOccurrence, headerAttempt)
}

// FromEnv reads the grant of a command that Duly started, from its environment:
// getenv is os.Getenv. It answers false where there is none, and an error where
// there is a broken one.
func FromEnv(getenv func(name string) string) (duly.Grant, bool, error) {
	return parse(getenv, "DULY_FENCING_TOKEN", "DULY_FENCING_RESOURCE", "DULY_OCCURRENCE", "DULY_ATTEMPT")
}

func parse(get func(string) string, token, resource, occurrence, attempt string) (duly.Grant, bool, error) {
	g := duly.Grant{Resource: get(resource), Occurrence: get(occurrence)}
	text := get(token)
	if text == "" && g.Resource == "" {
		return duly.Grant{}, false, nil
	}
	if text == "" {
		return duly.Grant{}, false, duly.Invalid(token, "is missing beside %s", resource)
	}
	if g.Resource == "" {
		return duly.Grant{}, false, duly.Invalid(resource, "is missing beside %s", token)
	}
	var err error
	if g.Token, err = strconv.ParseInt(text, 10, 64); err != nil || g.Token < 1 {
		return duly.Grant{}, false, duly.Invalid(token, "is %q; it must be a whole number from 1", text)
	}
	if text := get(attempt); text != "" {
		if g.Attempt, err = strconv.Atoi(text); err != nil {
			return duly.Grant{}, false, duly.Invalid(attempt, "is %q; it must be a whole number", text)
		}
	}
	return g, true, nil
}
