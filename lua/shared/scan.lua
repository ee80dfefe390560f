-- Places in a scan. The order of what Redis scans comes of a number that each of its processes draws anew: to one that has started
-- since, to a replica that has taken over, and to a node that a slot has come to, the cursor of another one means nothing, and whoever
-- went on with it would miss items. So a place is '<cursor>.<process>'.

-- What tells this process of Redis from others; empty where that cannot be asked.
local process_read
local function scanning_process()
  if not process_read then
    local info = redis.pcall('INFO', 'server')
    process_read = type(info) == 'string' and string.match(info, 'run_id:(%x%x%x%x%x%x%x%x)') or ''
  end
  return process_read
end

-- Nil for what is no place, false for one of another process.
local function cursor_of(place)
  local cursor, process = string.match(place, '^(%d+)%.?(%x*)$')
  if not cursor or #cursor > 20 then
    return nil
  end
  return (process == '' or process == scanning_process()) and cursor
end

-- '0' is the end, as it is the beginning.
local function place_of(cursor)
  local process = cursor ~= '0' and scanning_process() or ''
  return process == '' and cursor or cursor .. '.' .. process
end
