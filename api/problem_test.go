package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/duly-dev/duly"
)

func TestAnErrorComesBackAsItWasMeant(t *testing.T) {
	tests := []struct {
		claim   string
		status  int
		kind    string
		body    string
		want    duly.Error
		faults  []string
		message string
	}{
		{
			claim: "code and detail survive", status: 404, kind: "application/problem+json",
			body: `{"status":404,"title":"Not Found","detail":"there is no schedule x","code":"not_found"}`,
			want: duly.Error{Code: duly.CodeNotFound, Message: "there is no schedule x"}, faults: []string{"there is no schedule x"},
		},
		{
			claim: "one fault is the error itself, with its field", status: 422, kind: "application/problem+json",
			body: `{"status":422,"detail":"d","code":"invalid","errors":[{"location":"body.retry.max_attempts","message":"is 0"}]}`,
			want: duly.Error{Code: duly.CodeInvalid, Field: "retry.max_attempts", Message: "is 0"}, faults: []string{"retry.max_attempts: is 0"},
		},
		{
			claim: "several faults are all kept", status: 422, kind: "application/problem+json",
			body:   `{"status":422,"detail":"d","code":"invalid","errors":[{"location":"body.schedules[0].cron","message":"a"},{"location":"query.limit","message":"b"},{"location":"body","message":"c"}]}`,
			want:   duly.Error{Code: duly.CodeInvalid, Message: "schedules[0].cron: a; limit: b; c"},
			faults: []string{"schedules[0].cron: a", "limit: b", "c"},
		},
		{
			claim: "the holder of a lease has a code of its own although the status is a conflict's", status: 409, kind: "application/problem+json",
			body: `{"status":409,"detail":"d","code":"not_holder"}`,
			want: duly.Error{Code: duly.CodeNotHolder, Message: "d"}, faults: []string{"d"},
		},
		{
			claim: "what something in between says counts by its status", status: 502, kind: "text/html", body: "<h1>Bad Gateway</h1>",
			want: duly.Error{Code: duly.CodeUnavailable, Message: "GET /api/v1/stats was answered 502 Bad Gateway"}, faults: []string{"GET /api/v1/stats was answered 502 Bad Gateway"},
		},
		{
			claim: "a problem that is cut off counts by its status", status: 404, kind: "application/problem+json", body: `{"detail":`,
			want: duly.Error{Code: duly.CodeNotFound, Message: "GET /api/v1/stats was answered 404 Not Found"}, faults: []string{"GET /api/v1/stats was answered 404 Not Found"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.claim, func(t *testing.T) {
			handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tt.kind)
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			})
			web := httptest.NewServer(handler)
			defer web.Close()
			for name, client := range map[string]*Client{"network": New(web.URL, ""), "in process": InProcess(handler)} {
				_, err := client.Stats(context.Background())
				var e *duly.Error
				if !errors.As(err, &e) {
					t.Fatalf("%s: the error is %T: %v", name, err, err)
				}
				if e.Code != tt.want.Code || e.Field != tt.want.Field || e.Message != tt.want.Message {
					t.Errorf("%s: got %q %q %q, want %q %q %q", name, e.Code, e.Field, e.Message, tt.want.Code, tt.want.Field, tt.want.Message)
				}
				var got []string
				for _, f := range Faults(err) {
					if f.Code != tt.want.Code {
						t.Errorf("%s: fault %v has code %q", name, f, f.Code)
					}
					got = append(got, f.Error())
				}
				if !slices.Equal(got, tt.faults) {
					t.Errorf("%s: faults are %q, want %q", name, got, tt.faults)
				}
			}
		})
	}
}

func TestEveryCodeHasAStatusThatLeadsBack(t *testing.T) {
	for _, s := range statuses {
		if got := StatusOf(s.code); got != s.status {
			t.Errorf("status of %s is %d, want %d", s.code, got, s.status)
		}
		back := CodeOfStatus(s.status)
		if back != s.code && StatusOf(back) != s.status {
			t.Errorf("status %d leads back to %s", s.status, back)
		}
	}
	if got := StatusOf("something new"); got != http.StatusInternalServerError {
		t.Errorf("an unknown code has status %d", got)
	}
}

func TestAServerThatIsNotThereIsUnavailable(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	url := web.URL
	web.Close()
	_, err := New(url, "").Stats(context.Background())
	if duly.CodeOf(err) != duly.CodeUnavailable || !strings.Contains(err.Error(), url) {
		t.Errorf("got %v", err)
	}
}

func TestTheErrorOfAnEndedContextIsTheContexts(t *testing.T) {
	release := make(chan struct{})
	began := make(chan struct{}, 2)
	handler := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		began <- struct{}{}
		select {
		case <-r.Context().Done():
		case <-release:
		}
	})
	web := httptest.NewServer(handler)
	defer web.Close()
	defer close(release)
	for name, client := range map[string]*Client{"network": New(web.URL, ""), "in process": InProcess(handler)} {
		ctx, cancel := context.WithCancel(context.Background())
		failed := make(chan error)
		go func() {
			_, err := client.Stats(ctx)
			failed <- err
		}()
		<-began
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestRequestsCarryWhoAsks(t *testing.T) {
	var got http.Header
	client := InProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		w.WriteHeader(http.StatusNoContent)
	}))
	if err := client.As("anna\r\nX-Evil: 1").Leave(context.Background(), 7); err != nil {
		t.Fatal(err)
	}
	if by := got.Get("Duly-Actor"); by != "anna  X-Evil: 1" {
		t.Errorf("the actor is %q", by)
	}
	if got.Get("X-Evil") != "" {
		t.Error("a name made a header of its own")
	}
}

func TestAllWalksEveryPageAndStopsAtAnError(t *testing.T) {
	broken := errors.New("gone")
	page := func(cursor string) (List[int], error) {
		switch cursor {
		case "":
			return List[int]{Items: []int{1, 2}, NextCursor: "b"}, nil
		case "b":
			return List[int]{Items: []int{3}, NextCursor: "c"}, nil
		}
		return List[int]{}, broken
	}
	var got []string
	for n, err := range All(page) {
		got = append(got, fmt.Sprint(n, err))
	}
	if want := []string{"1 <nil>", "2 <nil>", "3 <nil>", "0 gone"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
