package convert_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/convert"
)

// sound holds what must be true of any conversion: every note has a place in
// the source, and the file loads as what was meant.
func sound(t *testing.T, text string, r *convert.Result) {
	t.Helper()
	lines := strings.Count(text, "\n") + strings.Count(text, "\r") + 1
	for _, n := range r.Notes {
		if n.Line < 1 || n.Line > lines || n.Column < 1 || n.Message == "" {
			t.Errorf("%+v is nowhere in a file of %d lines", n, lines)
		}
	}
	loads(t, r)
}

func FuzzCrontab(f *testing.F) {
	for _, src := range sources(f, "testdata/crontab") {
		f.Add(string(src.Data))
	}
	f.Add("\"\n@\n*/ * * * * x\n\t-\n'=\n=\n\\\n0 0 1 1 1 %\\")
	f.Fuzz(func(t *testing.T, text string) {
		for _, mode := range []convert.Mode{convert.ModeExec, convert.ModeExternal} {
			src := []convert.Source{{Name: "crontab", Data: []byte(text)}}
			sound(t, text, convert.Crontab(src, convert.CrontabOptions{Mode: mode, Zone: "Europe/Berlin"}))
		}
	})
}

func FuzzKubernetes(f *testing.F) {
	for _, src := range sources(f, "testdata/k8s") {
		f.Add(string(src.Data))
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, mode := range []convert.Mode{convert.ModeExec, convert.ModeExternal} {
			src := []convert.Source{{Name: "manifest", Data: []byte(text)}}
			sound(t, text, convert.Kubernetes(src, convert.KubernetesOptions{Mode: mode}))
		}
	})
}

// Whatever a command, a setting or a comment says, the file says it too.
func TestAnyTextSurvivesTheFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.OneOf(
			rapid.String(),
			rapid.SampledFrom([]string{"${HOME}", "$${x}", "$$$", "\n", "\n\n", " ", "\t", "# ", ": ", "'", `"`, "\\", "true", "- ", "null", "~", "|", "{", "}", "\x1b[31m", "\u2028", "é", "😀", "\u00a0", "\ufeff", "line"}),
		)
		text := rapid.Custom(func(t *rapid.T) string {
			valid := strings.ToValidUTF8(strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces"), ""), "")
			return strings.ReplaceAll(valid, "\x00", "") // no program can be given one
		})
		s := duly.Schedule{
			ID: "x", Description: text.Draw(t, "description"), Timing: duly.Timing{Cron: "0 1 * * *"},
			Target: duly.Target{Exec: &duly.ExecTarget{
				Command: []string{"/bin/sh", "-c", text.Draw(t, "command")},
				Dir:     text.Draw(t, "dir"),
				Env:     map[string]string{"A": text.Draw(t, "a"), "B": text.Draw(t, "b")},
			}},
		}
		r := &convert.Result{
			Schedules: []convert.Schedule{{Schedule: s, File: "f", Line: 1, Advice: []string{text.Draw(t, "advice")}}},
			Notes:     []convert.Note{{File: text.Draw(t, "file"), Line: 1, Column: 1, Kind: convert.Remark, Message: text.Draw(t, "message")}},
		}
		loads(t, r)
	})
}
