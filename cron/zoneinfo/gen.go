//go:build ignore

// This program packs a directory of compiled zones into zoneinfo.zip:
//
//	zic -b slim -d DIR tzdata.zi
//	go run gen.go DIR tzdata.zi
package main

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"log"
	"os"
	"strings"
)

// Factory is a placeholder for a machine whose zone nobody has set.
var leaveOut = map[string]bool{"Factory": true}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: go run gen.go DIR tzdata.zi")
	}
	source, err := os.ReadFile(os.Args[2])
	check(err)
	line, _, _ := strings.Cut(string(source), "\n")
	version, ok := strings.CutPrefix(line, "# version ")
	if !ok {
		log.Fatalf("%s does not begin with its version", os.Args[2])
	}

	var out bytes.Buffer
	w := zip.NewWriter(&out)
	add(w, "+VERSION", []byte(version))
	root := os.DirFS(os.Args[1])
	// WalkDir goes in lexical order and zip entries get no time, so the same
	// zones always give the same file.
	check(fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || leaveOut[name] {
			return err
		}
		data, err := fs.ReadFile(root, name)
		check(err)
		add(w, name, data)
		return nil
	}))
	check(w.Close())
	check(os.WriteFile("zoneinfo.zip", out.Bytes(), 0o644))
}

func add(w *zip.Writer, name string, data []byte) {
	f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
	check(err)
	_, err = f.Write(data)
	check(err)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
