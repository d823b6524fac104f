package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/cron"
)

// versionInfo says what this program was built from.
type versionInfo struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"` // built from a tree with changes
	Go       string `json:"go"`
	TZData   string `json:"tzdata"`
	Platform string `json:"platform"`
}

func currentVersion() versionInfo {
	v := versionInfo{
		Version: duly.Version, Go: runtime.Version(), TZData: cron.TZDataVersion(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if v.Version == "dev" && info.Main.Version != "" && info.Main.Version != "(devel)" {
		v.Version = info.Main.Version // built by go install
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

func (inv *invocation) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of the program, of Go and of the zone data",
		Args:  args(0, 0),
		RunE: func(*cobra.Command, []string) error {
			v := currentVersion()
			return inv.print(v, func() error {
				_, err := fmt.Fprintf(inv.out, "duly %s (%s, %s, zone data %s)\n", v.Version, v.Platform, v.Go, v.TZData)
				return err
			})
		},
	}
}
