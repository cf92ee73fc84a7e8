-- The scenario in Neovim 0.7: nvim --headless --clean -u NONE -S neovim.lua, in the app's folder.
-- Takes TOOL_SCENARIO (the steps), TOOL_RESULTS (where the answers go) and TOOL_SERVER (the command, as JSON).
local WAIT_MS = 10000

local function read(path)
  local file = assert(io.open(path, "r"))
  local text = file:read("*a")
  file:close()
  return text
end

local function text()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n") .. "\n"
end

--- The (row, column) of an offset in the text: rows from 1, columns in bytes from 0, as the cursor has them.
local function place(offset)
  local before = text():sub(1, offset)
  local _, row = before:gsub("\n", "")
  return { row + 1, #before:match("[^\n]*$") }
end

--- Where the only occurrence of a text begins, counted from 0.
local function find(needle)
  local from, to = text():find(needle, 1, true)
  assert(from, "not in the text: " .. needle)
  assert(not text():find(needle, to + 1, true), "more than once in the text: " .. needle)
  return from - 1
end

local function go(marked)
  local bar = assert(marked:find("|", 1, true), "no | in " .. marked)
  local plain = marked:sub(1, bar - 1) .. marked:sub(bar + 1)
  vim.api.nvim_win_set_cursor(0, place(find(plain) + bar - 1))
end

--- Edits as a person does: the old text goes, the new one stands in its place. The cursor goes to the | where there is one.
local function edit(step)
  if step.replace then
    local from = find(step.replace)
    local first, last = place(from), place(from + #step.replace)
    local new = step.with:gsub("|", "")
    vim.api.nvim_buf_set_text(0, first[1] - 1, first[2], last[1] - 1, last[2], vim.split(new, "\n", { plain = true }))
    if step.with:find("|", 1, true) then go(step.with) end
  end
  if step.at then go(step.at) end
end

local function wait(what, holds)
  assert(vim.wait(WAIT_MS, holds, 10), "waited " .. WAIT_MS .. " ms for " .. what)
end

local client_id, exit_code
local pushed = 0

local function request(method, params)
  local answers, failure = vim.lsp.buf_request_sync(0, method, params, WAIT_MS)
  assert(answers, method .. ": " .. tostring(failure))
  local answer = assert(answers[client_id], method .. ": no answer")
  assert(not answer.error, method .. ": " .. vim.inspect(answer.error))
  return answer.result
end

local function start()
  local publish = vim.lsp.handlers["textDocument/publishDiagnostics"]
  client_id = vim.lsp.start_client({
    name = "tool",
    cmd = vim.fn.json_decode(vim.env.TOOL_SERVER),
    root_dir = vim.fn.getcwd(),
    handlers = {
      ["textDocument/publishDiagnostics"] = function(...)
        publish(...)
        pushed = pushed + 1
      end,
    },
    on_exit = function(code)
      exit_code = code
    end,
  })
  assert(client_id, "the server did not start")
  assert(vim.lsp.buf_attach_client(0, client_id), "the server was not attached")
end

--- What the editor shows of the version that it has now: waits until the server has pushed something newer than `since`.
local function problems(since)
  wait("diagnostics", function() return pushed > since end)
  return vim.tbl_map(function(found)
    return string.format("%d:%d %s", found.lnum + 1, found.col + 1, found.message)
  end, vim.diagnostic.get(0))
end

local steps = {}

function steps.open()
  local since = pushed
  start()
  return { problems = problems(since) }
end

function steps.diagnostics(step)
  local since = pushed
  edit(step)
  return { problems = problems(since) }
end

function steps.fix(step)
  edit(step)
  local titles = {}
  vim.ui.select = function(items, options, choose)
    titles = vim.tbl_map(options.format_item, items)
    for i, title in ipairs(titles) do
      if title == step.pick then return choose(items[i], i) end
    end
    choose(nil)
  end
  local since, before = pushed, text()
  vim.lsp.buf.code_action()
  wait("code actions", function() return #titles > 0 end)
  if text() == before then return { titles = titles } end
  return { titles = titles, problems = problems(since) }
end

function steps.complete(step)
  edit(step)
  local result = request("textDocument/completion", vim.lsp.util.make_position_params())
  local items = result.items or result
  table.sort(items, function(a, b) return (a.sortText or a.label) < (b.sortText or b.label) end)
  for _, item in ipairs(items) do
    if item.label == step.pick then
      assert(item.textEdit, item.label .. " has no textEdit")
      vim.lsp.util.apply_text_edits({ item.textEdit }, 0, "utf-16")
    end
  end
  return { labels = vim.tbl_map(function(item) return item.label end, items) }
end

function steps.hover(step)
  edit(step)
  local function float()
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(window).relative ~= "" then return window end
    end
  end
  vim.lsp.buf.hover()
  wait("the hover's window", function() return float() ~= nil end)
  local shown = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(float()), 0, -1, false)
  vim.api.nvim_win_close(float(), true)
  return { hover = table.concat(shown, "\n") }
end

function steps.definition(step)
  edit(step)
  local before = vim.api.nvim_win_get_cursor(0)
  vim.lsp.buf.definition()
  wait("the cursor to move", function() return not vim.deep_equal(vim.api.nvim_win_get_cursor(0), before) end)
  local cursor = vim.api.nvim_win_get_cursor(0)
  return { at = string.format("%d:%d", cursor[1], cursor[2] + 1) }
end

function steps.rename(step)
  edit(step)
  local before = text()
  vim.lsp.buf.rename(step.to)
  wait("the new name", function() return text() ~= before end)
  return {}
end

function steps.format(step)
  edit(step)
  vim.lsp.buf.formatting_sync({ tabSize = 2, insertSpaces = true }, WAIT_MS)
  return {}
end

function steps.lens(step)
  edit(step)
  vim.lsp.codelens.refresh()
  wait("code lenses", function() return #vim.lsp.codelens.get(0) > 0 end)
  local lenses = vim.lsp.codelens.get(0)
  table.sort(lenses, function(a, b)
    local x, y = a.range.start, b.range.start
    return x.line < y.line or x.line == y.line and a.command.title < b.command.title
  end)
  return {
    lenses = vim.tbl_map(function(lens) return (lens.range.start.line + 1) .. " " .. lens.command.title end, lenses),
  }
end

function steps.shutdown()
  vim.lsp.stop_client(client_id)
  wait("the server's end", function() return exit_code ~= nil end)
  return { exit = exit_code }
end

local function run()
  vim.cmd("edit tool.json")
  -- Outside of insert mode the cursor cannot be after the last character of a line, where it is while a user types.
  vim.o.virtualedit = "onemore"
  local results = {}
  for _, step in ipairs(vim.fn.json_decode(read(vim.env.TOOL_SCENARIO))) do
    local ok, answer = xpcall(steps[step["do"]], debug.traceback, step)
    answer = ok and answer or { error = answer }
    answer.text = text()
    table.insert(results, answer)
    if not ok then break end
  end
  local file = assert(io.open(vim.env.TOOL_RESULTS, "w"))
  file:write(vim.fn.json_encode(results))
  file:close()
end

local ok, failure = xpcall(run, debug.traceback)
if not ok then io.stderr:write(failure .. "\n") end
vim.cmd(ok and "qall!" or "cquit!")
