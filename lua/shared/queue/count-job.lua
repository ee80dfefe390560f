-- Remembers for the statistics what happened to a job; see shared/queue/leave-notes.
local function count_job(queue, kind, name)
  local counted = queue.counted
  if not counted then
    counted = {}
    queue.counted = counted
  end
  local key = #name < 255 and kind .. name or kind
  if not counted[key] then
    counted[key], counted[#counted + 1] = 0, key
  end
  counted[key] = counted[key] + 1
end
