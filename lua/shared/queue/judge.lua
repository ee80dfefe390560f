-- What may be acked, and what may be claimed.

-- Of a repeated argument (number, token, result): what ends, as number, run and result, what is refused, and the
-- numbers of those that are refused because they were cancelled.
local function judge_acks(jobs, acks, acks_at)
  local ended, refused, stopped, fields = {}, {}, {}, {}
  if #acks < acks_at then
    return ended, refused, stopped
  end
  for at = acks_at, #acks, 3 do
    fields[#fields + 1] = 'r' .. acks[at]
  end
  local stored = redis.call('HMGET', jobs, unpack(fields))
  local seen = {}
  for place, packed in ipairs(stored) do
    local at = acks_at + (place - 1) * 3
    local seq = acks[at]
    local run = packed and unpack_run(packed)
    local why = why_not(run, tonumber(acks[at + 1])) or seen[seq]
    if why then
      refused[#refused + 1] = place - 1
      refused[#refused + 1] = why
      if why == 'cancelled' and not seen[seq] then
        seen[seq] = why
        stopped[#stopped + 1] = seq
      end
    else
      seen[seq] = 'acked'
      ended[#ended + 1] = seq
      ended[#ended + 1] = run
      ended[#ended + 1] = acks[at + 2]
    end
  end
  return ended, refused, stopped
end

-- How many jobs may be claimed now.
local function room_of(leases, queue, settings, limit, now_us)
  local room = limit
  if settings.paused then
    return 0
  end
  if settings.concurrency > 0 then
    local claimed = redis.pcall('ZCOUNT', leases, '-inf', '(+inf')
    room = type(claimed) == 'number' and math.min(room, settings.concurrency - claimed) or 0
  end
  if settings.rate_limit > 0 then
    queue.arrival_us = bounded_arrival(queue.arrival_us, settings, now_us)
    room = math.min(room, starts_left(queue.arrival_us, settings, now_us))
  end
  return math.max(0, room)
end

-- In how many milliseconds the rate lets another ready job start; 0: it holds back none.
local function next_start_ms(queue, settings, now_us)
  if settings.rate_limit == 0 or settings.paused or queue.ready == 0 then
    return 0
  end
  return next_start_in_ms(queue.arrival_us, settings, now_us)
end

-- Whether a job that ends may let another one start.
local function may_free_others(queue, settings)
  return queue.idle > 0 and (settings.concurrency > 0 or is_marked(queue, GROUPS))
end
