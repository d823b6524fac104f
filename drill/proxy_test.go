package drill

import (
	"bufio"
	"io"
	"net"
	"testing"
)

// echo answers every line.
func echo(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c); _ = c.Close() }()
		}
	}()
	return l.Addr().String()
}

func TestACutLineBreaksWhatIsOpenAndRefusesWhatIsNew(t *testing.T) {
	p, err := newProxy("tcp", echo(t))
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	dial := func() (net.Conn, *bufio.Reader) {
		c, err := net.Dial("tcp", p.address())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c, bufio.NewReader(c)
	}
	says := func(c net.Conn, r *bufio.Reader) error {
		if _, err := c.Write([]byte("hello\n")); err != nil {
			return err
		}
		_, err := r.ReadString('\n')
		return err
	}
	c, r := dial()
	if err := says(c, r); err != nil {
		t.Fatalf("before the cut: %v", err)
	}
	p.cut()
	if err := says(c, r); err == nil {
		t.Error("an open connection outlived the cut")
	}
	if err := says(dial()); err == nil {
		t.Error("a new connection got through the cut")
	}
	p.mend()
	if err := says(dial()); err != nil {
		t.Errorf("after it was mended: %v", err)
	}
}
