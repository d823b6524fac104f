// The platforms that there is a binary for, by the names of Node.js, which are
// those of npm, and by the names of Go.
export const platforms = [
  { os: "linux", cpu: "x64", goos: "linux", goarch: "amd64" },
  { os: "linux", cpu: "arm64", goos: "linux", goarch: "arm64" },
  { os: "darwin", cpu: "x64", goos: "darwin", goarch: "amd64" },
  { os: "darwin", cpu: "arm64", goos: "darwin", goarch: "arm64" },
  { os: "win32", cpu: "x64", goos: "windows", goarch: "amd64" },
];

export const packageOf = ({ os, cpu }) => `@duly/cli-${os}-${cpu}`;

export const isHost = ({ os, cpu }) => os === process.platform && cpu === process.arch;
