-- Pages of ready jobs without group.

-- Their numbers from a place on: those that came back and stand before all priorities, then the list. Answers how many are of
-- the former, too, of which some have a priority.
local function ready_page(ready, prioritized, after, limit)
  local count = redis.call('ZCOUNT', prioritized, '-inf', IN_FRONT)
  local numbers = {}
  if after < count then
    local to = math.min(after + limit, count) - 1
    numbers = redis.call('ZRANGE', prioritized, string.format('%.0f', after), string.format('%.0f', to))
  end
  local in_front = #numbers
  if in_front < limit then
    local from = math.max(0, after - count)
    local to = from + limit - in_front - 1
    local listed = redis.call('LRANGE', ready, string.format('%.0f', from), string.format('%.0f', to))
    for _, seq in ipairs(listed) do
      numbers[#numbers + 1] = seq
    end
  end
  return numbers, in_front
end

-- Whether a plain job whose number is in the list is ready there.
local function stands_listed(prioritized_jobs, job, run, seq)
  return state_of(run) == 'ready'
    and job.group == ''
    and not (run and run.state == 'b' and redis.call('ZSCORE', prioritized_jobs, seq))
end
