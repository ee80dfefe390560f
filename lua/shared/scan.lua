-- Places in a scan. The scan order of Redis depends on a random number of each of its processes. A cursor has no
-- meaning for a restarted process, a replica that has taken over, or a node that received a slot: a scan with it would
-- miss items. So a place is '<cursor>.<process>'.

-- The identity of this Redis process; empty if the user may not ask for it.
local process_read
local function scanning_process()
  if not process_read then
    local info = redis.pcall('INFO', 'server')
    process_read = type(info) == 'string' and string.match(info, 'run_id:(%x%x%x%x%x%x%x%x)') or ''
  end
  return process_read
end

-- Nil for an invalid place, false for one of another process.
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
