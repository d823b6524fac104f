package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// InProcess makes a client of a handler in the same program: the very same
// requests and answers, without a network.
func InProcess(handler http.Handler) *Client {
	return &Client{base: "http://in-process", http: &http.Client{Transport: transport{handler}}}
}

// transport serves requests by calling a handler.
type transport struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper. The goroutine that serves the
// request is waited for when the answer's body is closed.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	served := req.Clone(ctx)
	served.RequestURI = req.URL.RequestURI()
	served.URL.Scheme, served.URL.Host = "", ""
	served.Host = req.URL.Host
	served.RemoteAddr = "in-process"
	if served.Body == nil {
		served.Body = http.NoBody
	}
	out, in := io.Pipe()
	w := &pipeWriter{header: http.Header{}, body: in, began: make(chan struct{})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if r := recover(); r != nil { // as net/http ends the connection
				in.CloseWithError(io.ErrUnexpectedEOF)
			}
			w.WriteHeader(http.StatusOK)
			in.Close()
		}()
		t.handler.ServeHTTP(w, served)
	}()
	stop := func() {
		cancel()
		out.CloseWithError(io.ErrClosedPipe)
		<-done
		served.Body.Close()
	}
	select {
	case <-w.began:
	case <-req.Context().Done():
		stop()
		return nil, req.Context().Err()
	}
	return &http.Response{
		Status: fmt.Sprint(w.status, " ", http.StatusText(w.status)), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: &pipeBody{PipeReader: out, ctx: ctx, stop: stop}, ContentLength: -1, Request: req,
	}, nil
}

// pipeWriter is the answer as its handler sees it.
type pipeWriter struct {
	header http.Header
	body   *io.PipeWriter
	began  chan struct{} // closed when status and sent are set
	once   sync.Once
	status int
	sent   http.Header
}

func (w *pipeWriter) Header() http.Header { return w.header }

func (w *pipeWriter) WriteHeader(status int) {
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		close(w.began)
	})
}

func (w *pipeWriter) Write(data []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(data)
}

// Flush does nothing: every byte is handed over at once.
func (w *pipeWriter) Flush() { w.WriteHeader(http.StatusOK) }

// pipeBody is the answer's body as the client sees it.
type pipeBody struct {
	*io.PipeReader
	ctx  context.Context
	once sync.Once
	stop func()
}

// Read ends with the context's error when that ended.
func (b *pipeBody) Read(p []byte) (int, error) {
	n, err := b.PipeReader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) && b.ctx.Err() != nil {
		err = b.ctx.Err()
	}
	return n, err
}

func (b *pipeBody) Close() error {
	b.once.Do(b.stop)
	return nil
}
