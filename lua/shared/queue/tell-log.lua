-- Appends the lines of a job's log to a list: the place of the job, when, and what; see shared/queue/log. Answers its bytes.
local function tell_log(told, jobs, seq, place)
  local packed = redis.call('HGET', jobs, 'l' .. seq)
  for _, entry in ipairs((list_entries(packed))) do
    local at_ms, line_at = struct.unpack('>d', entry)
    told[#told + 1] = place
    told[#told + 1] = at_ms
    told[#told + 1] = string.sub(entry, line_at)
  end
  return packed and #packed or 0
end
