import clients from "../../clients/eslint.config.js";

export default [
  { ignores: ["nest11/**"] }, // a copy
  ...clients,
  { languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } } },
];
