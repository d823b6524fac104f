package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/duly-dev/duly/config"
)

func TestPlaceholdersAreFilledIn(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"plain": "p\n", "windows": "w\r\n", "two": "t\n\n", "none": "n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"COUNT": "7", "WAIT": "90s", "YES": "true", "WHEN": "2026-11-28T09:00:00Z", "NEST": "${env:COUNT}"}
	file, err := config.Parse(filepath.Join(folder, "duly.yaml"), []byte(one(`
    every: ${env:WAIT}
    start: "${env:WHEN}"
    priority: ${env:COUNT}
    external: null
    retry: { max_attempts: "${env:COUNT}" }
    description: "${file:plain}${file:windows}${file:two}${file:none}|$${env:COUNT}|$$|${env:NEST}|${file:`+folder+`/plain}"
    payload: { count: "${env:COUNT}" }
    target: { exec: { command: [a, "x${env:COUNT}y"], env: { N: "${env:COUNT}" } } }
`)), func(name string) (string, bool) { v, ok := env[name]; return v, ok })
	if err != nil {
		t.Fatal(err)
	}
	s := file.Schedules[0]
	if s.Every != duration(t, "90s") || s.Start == nil || s.Priority != 7 || s.Retry.MaxAttempts != 7 {
		t.Errorf("typed values: %+v", s)
	}
	if want := "pwt\nn|${env:COUNT}|$$|${env:COUNT}|p"; s.Description != want {
		t.Errorf("description is %q, not %q", s.Description, want)
	}
	if string(s.Payload) != `{"count":"7"}` {
		t.Errorf("payload is %s; a value that is filled in stays a text", s.Payload)
	}
	if s.Target.Exec.Command[1] != "x7y" || s.Target.Exec.Env["N"] != "7" {
		t.Errorf("target is %+v", s.Target.Exec)
	}
}

func TestNoEnvironmentMeansNoVariables(t *testing.T) {
	t.Setenv("DULY_TEST", "set")
	if _, err := config.Parse("duly.yaml", []byte(one("    every: 1h\n    target: { handler: \"${env:DULY_TEST}\" }\n")), nil); err == nil {
		t.Error("Parse looked into the environment of the process")
	}
}

// Wherever a secret is put and whatever is then wrong, it is not repeated.
func TestSecretsDoNotAppearInFaults(t *testing.T) {
	const secret = "s3cr3t-V4lue\n\"with\\quotes\""
	env := func(string) (string, bool) { return secret, true }
	keys := []string{
		"cron", "every", "anchor", "at", "rrule", "external", "timezone", "start", "limit", "jitter", "period",
		"calendar", "overlap", "on_failure", "queue", "priority", "lease", "when_unavailable", "retry", "target",
		"timings", "except", "dst", "description", "unknown",
	}
	for _, key := range keys {
		for _, shape := range []string{"%q", "[%q]", "{ url: %q }", "{ gap: %q }", "{ policy: %q }"} {
			text := one("    " + key + ": " + strings.ReplaceAll(shape, "%q", `"${env:S}"`) + "\n")
			_, err := config.Parse("duly.yaml", []byte(text), env)
			if err == nil {
				t.Fatalf("was accepted:\n%s", text)
			}
			if strings.Contains(err.Error(), "s3cr3t") || strings.Contains(err.Error(), "V4lue") {
				t.Errorf("%s\nshows the secret: %v", text, err)
			}
		}
	}
}
