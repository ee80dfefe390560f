-- Jobs that a call claimed before, found again by when their leases end, as long as those were not extended: whoever
-- extends them has seen them.

-- What was claimed by the call that got these tokens: number, record and run of each.
local function claimed_before(jobs, leases, token, count, ends_ms)
  local found, from = {}, 0
  repeat
    local numbers = count > 0 and redis.call('ZRANGEBYSCORE', leases, ends_ms, ends_ms, 'LIMIT', from, '1000')
      or {}
    local stored = #numbers > 0 and redis.call('HMGET', jobs, unpack(fields_of(numbers))) or {}
    for at, seq in ipairs(numbers) do
      local run = stored[at * 2] and unpack_run(stored[at * 2])
      if run and run.token > token and run.token <= token + count then
        found[run.token - token] = { seq = seq, record = stored[at * 2 - 1], run = run }
      end
    end
    from = from + #numbers
  until #numbers < 1000
  return found
end

-- Tells them as they were told before. A job that is not claimed by that call any more is left out.
local function tell_again(jobs, found, count, usual)
  local told, options = {}, {}
  local place = 0
  for at = 1, count do
    local each = found[at]
    if each then
      local job = read_job(each.record, usual)
      if not job.is_plain then
        tell_options(options, place, each.seq, job)
      end
      told[#told + 1] = tonumber(each.seq)
      told[#told + 1] = each.run.token
      told[#told + 1] = each.run.attempts
      told[#told + 1] = job.name
      told[#told + 1] = payload_of(jobs, each.seq, each.record, job.body_at, each.run.flags)
      place = place + 1
    end
  end
  return told, options
end
