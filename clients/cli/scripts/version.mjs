// npmVersion turns what `git describe --tags --always --dirty` says into a
// version of npm. A tag is its version; commits after it come before the next
// patch; without a tag there is only the commit.
export function npmVersion(described) {
  const dirty = described.endsWith("-dirty");
  const clean = described.replace(/-dirty$/, "").replace(/^v/, "");
  const version = ofCommits(clean);
  if (!dirty) return version;
  return version.includes("-") ? `${version}.dirty` : `${version}-dirty`;
}

function ofCommits(clean) {
  const after = /^(\d+)\.(\d+)\.(\d+)(-[0-9A-Za-z.-]+?)?-(\d+)-(g[0-9a-f]+)$/.exec(clean);
  if (after) {
    const [, major, minor, patch, pre, commits, commit] = after;
    const base = pre ? `${major}.${minor}.${patch}${pre}` : `${major}.${minor}.${Number(patch) + 1}-dev`;
    return `${base}.${commits}.${commit}`;
  }
  if (/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(clean)) return clean;
  if (/^[0-9a-f]{4,40}$/.test(clean)) return `0.0.0-dev.g${clean}`;
  if (clean === "dev") return "0.0.0-dev";
  throw new Error(`${JSON.stringify(clean)} is no version: expected a tag like v1.2.3, a commit, or what git describe says`);
}
