import { join } from "node:path";
import { root } from "../support/cli.ts";
import { runScenario } from "../support/editor-scenario.ts";

runScenario({
  program: "nvim",
  packages: "neovim",
  argv: ["--headless", "--clean", "-u", "NONE", "-S", join(root, "test/clients/neovim.lua")],
});
