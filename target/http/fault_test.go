package http_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/target"
	"github.com/duly-dev/duly/target/http"
)

const patience = 30 * time.Second

// rawReceiver serves every connection with handle, below HTTP.
func rawReceiver(t *testing.T, handle func(*net.TCPConn, *bufio.Reader)) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer func() { _ = conn.Close() }()
				_ = conn.SetDeadline(time.Now().Add(patience))
				handle(conn.(*net.TCPConn), bufio.NewReader(conn))
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		serving.Wait()
	})
	return "http://" + l.Addr().String()
}

// request reads one whole request and reports whether there was one.
func request(in *bufio.Reader) bool {
	req, err := nethttp.ReadRequest(in)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, req.Body)
	return err == nil
}

func reset(conn *net.TCPConn) {
	_ = conn.SetLinger(0)
	_ = conn.Close()
}

func mustRetry(t *testing.T, res target.Result, text string) {
	t.Helper()
	if res.Outcome != duly.AttemptFailed || res.Permanent || !strings.Contains(res.Error, text) {
		t.Errorf("got %+v, want a failure that is tried again with %q", res, text)
	}
}

func TestConnectionRefusedIsRetried(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	mustRetry(t, newRunner(t, http.Options{}).Run(t.Context(), assignment(gone.URL)), "connection refused")
}

func TestConnectionResetIsRetried(t *testing.T) {
	url := rawReceiver(t, func(conn *net.TCPConn, in *bufio.Reader) {
		request(in)
		reset(conn)
	})
	mustRetry(t, newRunner(t, http.Options{}).Run(t.Context(), assignment(url)), "connection reset")
}

// net/http repeats a request with an Idempotency-Key by itself when a
// connection breaks that had served before.
func TestConnectionResetSendsNothingTwiceInOneAttempt(t *testing.T) {
	requests := make(chan string, 10)
	url := rawReceiver(t, func(conn *net.TCPConn, in *bufio.Reader) {
		for n := 1; request(in); n++ {
			requests <- fmt.Sprint("request ", n)
			if n == 2 {
				reset(conn)
				return
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}
	})
	runner := newRunner(t, http.Options{})
	if res := runner.Run(t.Context(), assignment(url)); res.Outcome != duly.AttemptSucceeded {
		t.Fatalf("got %+v", res)
	}
	mustRetry(t, runner.Run(t.Context(), assignment(url)), "connection reset")
	if first, second := <-requests, <-requests; first != "request 1" || second != "request 2" {
		t.Errorf("the connection was not used again: %s, %s", first, second)
	}
	if len(requests) != 0 {
		t.Errorf("one attempt was sent again: %s", <-requests)
	}
}

func TestAnAnswerThatBreaksOffIsRetried(t *testing.T) {
	url := rawReceiver(t, func(conn *net.TCPConn, in *bufio.Reader) {
		request(in)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf of it")
	})
	res := newRunner(t, http.Options{}).Run(t.Context(), assignment(url))
	mustRetry(t, res, "its answer broke off")
	if res.Output != "half of it" || *res.ExitCode != 200 {
		t.Errorf("got %+v", res)
	}
}

func TestWhatIsNoHTTPIsRetried(t *testing.T) {
	url := rawReceiver(t, func(conn *net.TCPConn, in *bufio.Reader) {
		request(in)
		_, _ = io.WriteString(conn, "SSH-2.0-OpenSSH_9.2\r\n")
	})
	mustRetry(t, newRunner(t, http.Options{}).Run(t.Context(), assignment(url)), "malformed HTTP response")
}

func TestEndlessHeadersAreNotReadForEver(t *testing.T) {
	url := rawReceiver(t, func(conn *net.TCPConn, in *bufio.Reader) {
		request(in)
		_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
		for err == nil {
			_, err = io.WriteString(conn, "X-More: "+strings.Repeat("x", 1000)+"\r\n")
		}
	})
	mustRetry(t, newRunner(t, http.Options{}).Run(t.Context(), assignment(url)), "header")
}

func TestEndlessBodyIsCutOffAndItsConnectionClosed(t *testing.T) {
	closed := make(chan error, 1)
	url := rawReceiver(t, func(conn *net.TCPConn, in *bufio.Reader) {
		request(in)
		_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		for err == nil {
			_, err = io.WriteString(conn, strings.Repeat("x", 1000))
		}
		closed <- err
	})
	res := newRunner(t, http.Options{}).Run(t.Context(), assignment(url))
	if res.Outcome != duly.AttemptSucceeded || len(res.Output) > 65<<10 || !strings.HasPrefix(res.Output, strings.Repeat("x", 64<<10)) {
		t.Errorf("got %d bytes, %.40q", len(res.Output), res.Output)
	}
	if err := <-closed; err.(net.Error).Timeout() {
		t.Error("the connection was left open")
	}
}

func TestHangingServerHoldsTheAttemptNoLongerThanItsContext(t *testing.T) {
	tests := []struct {
		name   string
		answer string
	}{
		{"BeforeTheAnswer", ""},
		{"WithinTheHeaders", "HTTP/1.1 200 OK\r\nX-Half:"},
		{"WithinTheBody", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			hanging := make(chan struct{})
			url := rawReceiver(t, func(conn *net.TCPConn, in *bufio.Reader) {
				request(in)
				_, _ = io.WriteString(conn, tt.answer)
				close(hanging)
				_, _ = in.ReadByte() // until the caller hangs up
			})
			ctx, cancel := context.WithCancelCause(t.Context())
			go func() {
				<-hanging
				cancel(target.ErrTimeout)
			}()
			res := newRunner(t, http.Options{}).Run(ctx, assignment(url))
			if res.Outcome != duly.AttemptTimedOut || res.Permanent || !strings.Contains(res.Error, "whether it did the work is not known") {
				t.Errorf("got %+v", res)
			}
		})
	}
}

func TestAnErrorTellsNothingOfPathAndQuery(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	url := strings.Replace(gone.URL, "http://", "http://user:password@", 1) + "/hooks/T0K3N?key=S3CR3T"
	res := newRunner(t, http.Options{}).Run(t.Context(), assignment(url))
	for _, secret := range []string{"password", "T0K3N", "S3CR3T"} {
		if strings.Contains(res.Error, secret) {
			t.Errorf("%q tells %s", res.Error, secret)
		}
	}
}
