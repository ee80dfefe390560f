-- Appends the lines of a job's log to a list: the place of the job, when, and what; see shared/queue/log.
local function tell_log(told, jobs, seq, place)
  for _, entry in ipairs((list_entries(redis.call('HGET', jobs, 'l' .. seq)))) do
    local at_ms, line_at = struct.unpack('>d', entry)
    told[#told + 1] = place
    told[#told + 1] = at_ms
    told[#told + 1] = string.sub(entry, line_at)
  end
end
