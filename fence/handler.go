package fence

import (
	"encoding/json"
	"net/http"

	"github.com/duly-dev/duly"
)

// Handler refuses requests whose fencing token is smaller than one that was
// seen for their resource: 412 Precondition Failed. A request without token and
// resource is refused with 428 Precondition Required ([Optional] lets those
// pass), a broken one with 400, and every request with 503 while the store does
// not answer. All as application/problem+json.
//
// What it admits finds its [duly.Grant] in the request's context, so that a
// transaction of the handler can check again, under effect.Once or [Check]:
// only that closes the time between admission and commit.
func Handler(next http.Handler, store Store) http.Handler {
	return &handler{next: next, store: store}
}

// Optional is Handler for routes that others than Duly call too: requests that
// carry neither token nor resource pass, without a grant in their context.
func Optional(next http.Handler, store Store) http.Handler {
	return &handler{next: next, store: store, optional: true}
}

type handler struct {
	next     http.Handler
	store    Store
	optional bool
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	grant, ok, err := FromHeader(r.Header)
	switch {
	case err != nil:
		refuse(w, http.StatusBadRequest, duly.CodeInvalid, err.Error())
		return
	case !ok && h.optional:
		h.next.ServeHTTP(w, r)
		return
	case !ok:
		refuse(w, http.StatusPreconditionRequired, duly.CodeInvalid,
			"this address takes fenced requests only: "+headerToken+" and "+headerResource+" are missing")
		return
	}
	if err := h.store.Raise(r.Context(), grant.Resource, grant.Token); err != nil {
		// What is wrong inside is not for the caller to read.
		status, code, detail := http.StatusServiceUnavailable, duly.CodeUnavailable, "the fence cannot be asked; try again later"
		if duly.CodeOf(err) == duly.CodeStaleToken {
			status, code, detail = http.StatusPreconditionFailed, duly.CodeStaleToken, err.Error()
		}
		refuse(w, status, code, detail)
		return
	}
	h.next.ServeHTTP(w, r.WithContext(duly.WithGrant(r.Context(), grant)))
}

// problem is an RFC 9457 problem.
type problem struct {
	Title  string    `json:"title"`
	Status int       `json:"status"`
	Detail string    `json:"detail"`
	Code   duly.Code `json:"code"`
}

func refuse(w http.ResponseWriter, status int, code duly.Code, detail string) {
	body, err := json.Marshal(problem{Title: http.StatusText(status), Status: status, Detail: detail, Code: code})
	if err != nil {
		panic(err) // four plain fields have a JSON form
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body) // whoever asked may be gone
}
