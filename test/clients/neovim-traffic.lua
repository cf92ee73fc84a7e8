-- The hits of rules in Neovim 0.7: nvim --headless --clean -u NONE -S neovim-traffic.lua, in the folder of the projects.
-- Takes TOOL_PROJECTS (their names), TOOL_RESULTS (where goes what is shown) and TOOL_SERVER (the command), lists as JSON.
-- Ends only what hangs.
local WAIT_MS = 60000

local results = {}

--- The text at the ends of lines, as `line text`.
local function shown()
  local lenses = {}
  for name, namespace in pairs(vim.api.nvim_get_namespaces()) do
    for _, mark in ipairs(name:find("codelens") and vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { details = true }) or {}) do
      for _, chunk in ipairs(mark[4].virt_text) do
        if chunk[1] ~= " | " then table.insert(lenses, (mark[2] + 1) .. " " .. chunk[1]) end
      end
    end
  end
  return lenses
end

local function clear()
  for name, namespace in pairs(vim.api.nvim_get_namespaces()) do
    if name:find("codelens") then vim.api.nvim_buf_clear_namespace(0, namespace, 0, -1) end
  end
end

--- Rests the cursor again and again, until a lens has this text.
local function refresh(text)
  local holds = vim.wait(WAIT_MS, function()
    vim.cmd("silent! doautocmd CursorHold")
    return table.concat(shown(), "\n"):find(text, 1, true) ~= nil
  end, 50)
  assert(holds, "waited for " .. text .. ", shown: " .. vim.inspect(shown()))
end

local function run()
  local client
  for _, project in ipairs(vim.fn.json_decode(vim.env.TOOL_PROJECTS)) do
    vim.cmd("edit " .. project .. "/tool.json")
    -- As EDITORS.md has it.
    client = client or vim.lsp.start_client({
      name = "tool",
      cmd = vim.fn.json_decode(vim.env.TOOL_SERVER),
      root_dir = vim.fn.getcwd(),
      settings = { tool = { traffic = { source = "service" } } },
      on_init = function(client)
        client.notify("workspace/didChangeConfiguration", { settings = client.config.settings })
      end,
      on_attach = function(_, buffer)
        vim.api.nvim_create_autocmd({ "BufEnter", "CursorHold", "InsertLeave" }, {
          buffer = buffer,
          callback = function() vim.lsp.codelens.refresh() end,
        })
      end,
    })
    assert(vim.lsp.buf_attach_client(0, client), "the server was not attached")
    local hasHits = project == "log" or project == "service"
    refresh(hasHits and " hits " or "Start")
  end
  for _, project in ipairs(vim.fn.json_decode(vim.env.TOOL_PROJECTS)) do
    vim.cmd("edit " .. project .. "/tool.json")
    clear()
    refresh("Start")
    results[project] = shown()
  end
  vim.lsp.stop_client(client)
end

local ok, failure = xpcall(run, debug.traceback)
local file = assert(io.open(vim.env.TOOL_RESULTS, "w"))
file:write(vim.fn.json_encode(ok and results or { failure = failure }))
file:close()
vim.cmd(ok and "qall!" or "cquit!")
