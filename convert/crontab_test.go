package convert

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func convertCrontab(t testing.TB, text string, opt CrontabOptions) *Result {
	t.Helper()
	return Crontab([]Source{{Name: "crontab", Data: []byte(text)}}, opt)
}

// started runs what a schedule starts, in an empty folder, and returns its
// output.
func started(t *testing.T, command []string, env ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v: %s", command, err, out)
	}
	return string(out)
}

// commands are lines with the output that they have under cron.
var commands = []struct{ line, output string }{
	{`echo plain`, "plain\n"},
	{`echo 100\% sure`, "100% sure\n"},
	{`cat%`, ""},
	{`cat%one`, "one\n"},
	{`cat%one%two`, "one\ntwo\n"},
	{`cat%one%two%`, "one\ntwo\n"},
	{`cat%%`, "\n"},
	{`cat%a\%b`, "a%b\n"},
	{`cat%back\slash \\% $HOME` + " `x`", `back\slash \% $HOME` + " `x`\n"},
	{`cat # a comment%in`, "in\n"},
	{`cat; cat%in`, "in\n"},
	{`head -n 1; exit 0%first%second`, "first\n"},
	{`tr a-z A-Z | cat%in`, "IN\n"},
	{`cat%STDIN%STDIN_%end`, "STDIN\nSTDIN_\nend\n"},
	{`echo "It's ${NAME:-nobody}"`, "It's nobody\n"},
}

func TestTheShellIsGivenWhatCronWouldGiveIt(t *testing.T) {
	for _, c := range commands {
		r := convertCrontab(t, "0 1 * * * "+c.line+"\n", CrontabOptions{})
		if len(r.Schedules) != 1 {
			t.Fatalf("%s: %v", c.line, r.Notes)
		}
		if got := started(t, r.Schedules[0].Target.Exec.Command); got != c.output {
			t.Errorf("%s prints %q, want %q; it became %q", c.line, got, c.output, r.Schedules[0].Target.Exec.Command)
		}
	}
}

func TestAnEscapedBackslashEscapesNothing(t *testing.T) {
	e := &entry{text: word{`cat \\%in`, 0}}
	if cmd := e.command(); cmd.text != `cat \\` || cmd.input != "in\n" {
		t.Errorf("%+v", cmd)
	}
}

// An external line is read by cron, and what that starts is duly exec, here a
// script that starts what stands behind its --.
func TestAnAdvisedLineStartsTheSameCommand(t *testing.T) {
	bin := t.TempDir()
	script := "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "duly"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range commands {
		for _, fields := range []string{"0 1 * * *", "*/5 * * * *"} {
			r := convertCrontab(t, fields+" "+c.line+"\n", CrontabOptions{Mode: ModeExternal})
			if len(r.Schedules) != 1 || len(r.Schedules[0].Advice) != 2 {
				t.Fatalf("%s: %+v", c.line, r)
			}
			line := strings.TrimSpace(r.Schedules[0].Advice[1])
			again := convertCrontab(t, line+"\n", CrontabOptions{})
			if len(again.Schedules) != 1 || again.Schedules[0].Cron != fields {
				t.Fatalf("%s is no line of a crontab: %v", line, again.Notes)
			}
			if got := started(t, again.Schedules[0].Target.Exec.Command, "PATH="+bin+":"+os.Getenv("PATH")); got != c.output {
				t.Errorf("%s prints %q, want %q", line, got, c.output)
			}
		}
	}
}

func TestTheUserColumnIsToldFromTheFile(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		name, text string
		told       *bool
		want       bool
		reason     string
	}{
		{name: "/etc/crontab", text: "0 1 * * * backup save\n", want: true, reason: "etc/crontab"},
		{name: "/etc/cron.d/backup", text: "0 1 * * * backup save\n", want: true, reason: "cron.d"},
		{name: `C:\copies\cron.d\backup`, text: "0 1 * * * backup save\n", want: true, reason: "cron.d"},
		{name: "/var/spool/cron/crontabs/joe", text: "0 1 * * * save\n"},
		{name: "crontab", text: "0 1 * * * save\n"},
		{name: "copy", text: "# m h dom mon dow user command\n0 1 * * * backup save\n", want: true, reason: "comment"},
		{name: "copy", text: "# *  *  *  *  * user-name command to be executed\n0 1 * * * backup save\n", want: true, reason: "comment"},
		{name: "copy", text: "# m h dom mon dow command\n0 1 * * * backup save\n"},
		{name: "copy", text: "0 1 * * * root save\n@daily www-data clean up\n", want: true, reason: "every line"},
		{name: "copy", text: "0 1 * * * root save\n@daily clean up\n"},
		{name: "copy", text: "0 1 * * * root\n"},
		{name: "copy", text: ""},
		{name: "/etc/crontab", text: "0 1 * * * save it\n", told: &no},
		{name: "copy", text: "0 1 * * * backup save\n", told: &yes, want: true},
	} {
		r := &Result{}
		system, reason := r.readCrontab(Source{Name: c.name, Data: []byte(c.text)}).isSystem(c.told)
		if system != c.want || !strings.Contains(reason, c.reason) || (reason == "") != (c.reason == "") {
			t.Errorf("%s with %q: %v, as %q; want %v, as %q", c.name, c.text, system, reason, c.want, c.reason)
		}
	}
}

func TestALineAddedAtTheEndRenamesNone(t *testing.T) {
	lines := []string{
		"0 1 * * * /opt/job.sh", "0 2 * * * /opt/job.sh", "0 2 * * * /opt/job.sh", "0 2 * * * /opt/job.sh",
		"# job\n0 3 * * * other", "@daily job", "0 4 * * * job now", "0 5 * * * ''", "0 6 * * * ''",
	}
	var before []string
	for i := range lines {
		r := convertCrontab(t, strings.Join(lines[:i+1], "\n")+"\n", CrontabOptions{})
		var ids []string
		for _, s := range r.Schedules {
			if slices.Contains(ids, s.ID) {
				t.Errorf("%s is given twice", s.ID)
			}
			ids = append(ids, s.ID)
		}
		if len(ids) != i+1 || !slices.Equal(ids[:i], before) {
			t.Errorf("after %q: %q, before %q", lines[i], ids, before)
		}
		before = ids
	}
}

func TestCommentsAboveALineDescribeIt(t *testing.T) {
	for above, want := range map[string]string{
		"# Nightly backup\n":                          "Nightly backup",
		"# Nightly\n## backup\n":                      "Nightly backup",
		"# A chapter\n\n":                             "",
		"# A chapter\n\n# Nightly\n":                  "Nightly",
		"# about the setting\nA=b\n":                  "",
		"# old\n# 0 2 * * * /opt/old\n# new\n":        "new",
		"# kept\n#@daily /opt/old\n":                  "",
		"# ------\n# Nightly\n# ------\n":             "Nightly",
		"# m h dom mon dow command\n":                 "",
		"# DO NOT EDIT THIS FILE - edit the master\n": "",
		"#Ansible: nightly backup\n":                  "nightly backup",
		"# Puppet Name: nightly\n":                    "nightly",
		"# Für Müller\n":                              "Für Müller",
	} {
		r := convertCrontab(t, above+"0 1 * * * /opt/command\n", CrontabOptions{})
		if len(r.Schedules) != 1 || r.Schedules[0].Description != want {
			t.Errorf("%q gives %+v, want %q", above, r.Schedules, want)
		}
	}
}

func TestATooLongCrontabIsRefused(t *testing.T) {
	r := convertCrontab(t, strings.Repeat("#\n", maxSource/2+1), CrontabOptions{})
	if len(r.Schedules) != 0 || r.Count(Wrong) != 1 || !strings.Contains(r.Notes[0].String(), "crontab:1:1: wrong: is longer than") {
		t.Errorf("%v", r.Notes)
	}
}

func TestSeveralCrontabsShareOneSetOfNames(t *testing.T) {
	var sources []Source
	for i := range 3 {
		sources = append(sources, Source{Name: fmt.Sprintf("cron.d/%d", i), Data: []byte("0 1 * * * root /opt/job.sh\n61 * * * * root x\n")})
	}
	r := Crontab(sources, CrontabOptions{})
	var ids []string
	for _, s := range r.Schedules {
		ids = append(ids, s.ID)
	}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != 3 || r.Count(Wrong) != 3 {
		t.Errorf("%q %v", ids, r.Notes)
	}
	order := slices.IsSortedFunc(r.Notes, func(a, b Note) int { return strings.Compare(a.File, b.File) })
	if !order {
		t.Errorf("the notes are out of order: %v", r.Notes)
	}
}
