const eslint = require("typescript-eslint");

module.exports = eslint.config(
  { ignores: ["**/dist/**", "**/generated/**", "**/*.js", "**/*.mjs", "**/*.cjs"] },
  ...eslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: __dirname } },
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true }],
      // A function that answers a promise throws by it, awaiting or not.
      "@typescript-eslint/require-await": "off",
      // Blind to what an await or a callback has changed meanwhile.
      "@typescript-eslint/no-unnecessary-condition": "off",
      // An answer of the server or of the ledger is typed where it is asked for.
      "@typescript-eslint/no-unnecessary-type-parameters": "off",
      // Modules and options of Nest are classes by name only.
      "@typescript-eslint/no-extraneous-class": "off",
      "@typescript-eslint/no-unsafe-class-instance-assignment": "off",
    },
  },
);
