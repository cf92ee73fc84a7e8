import { join } from "node:path";
import { root } from "../support/cli.ts";
import { runScenario } from "../support/editor-scenario.ts";

runScenario({
  program: "emacs",
  packages: "emacs-nox elpa-eglot",
  argv: ["--batch", "-l", join(root, "test/clients/emacs.el")],
  differs: {
    diagnostics: {
      shows: { problems: ['23:7 tool [config/unknown-key]: unknown key "statsu"\ndid you mean "status"?'] },
    },
  },
});
