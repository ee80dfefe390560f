-- Telling a page of jobs.
local READ_AT_ONCE = 100

-- Tells of the jobs with these numbers those that are wanted, as far as one call does. Answers how many it looked at.
local function tell_page(told, jobs, numbers, usual, is_wanted)
  local budget = budget_of(#numbers)
  for from = 1, #numbers, READ_AT_ONCE do
    local some = { unpack(numbers, from, math.min(from + READ_AT_ONCE - 1, #numbers)) }
    local stored = redis.call('HMGET', jobs, unpack(fields_of(some)))
    for at, seq in ipairs(some) do
      local record, packed = stored[at * 2 - 1], stored[at * 2]
      local run = packed and unpack_run(packed)
      if record and is_wanted(seq, record, run) then
        spend(budget, 1, tell_job(told, jobs, seq, record, run, usual))
        if not is_left(budget) then
          return from + at - 1
        end
      end
    end
  end
  return #numbers
end
