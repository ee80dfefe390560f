-- The unique key of a job that begins again is its own again, until it starts or is done. Answers false where another job has it.
local function hold_again(ids, job, seq, now_ms)
  local till, key = string.sub(job.unique, 1, 1), string.sub(job.unique, 2)
  if till ~= 's' and till ~= 'd' then
    return true
  end
  local holder = holder_of_unique(ids, key, now_ms)
  if holder and holder ~= seq then
    return false
  end
  hold_unique(ids, key, seq, till, 0)
  return true
end
