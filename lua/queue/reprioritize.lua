--[[
Changes the priority of unclaimed jobs. Within one priority they keep their age, but a job without group that gets
priority 0 is placed last. Outcomes: `changed`, `claimed`, `absent`. Safe to repeat. If the work or the size of the jobs
exceeds one call, there are fewer outcomes than ids: send the others in the next call.

@returns changed  outcomes:[outcome:text]
@cost    O(jobs x log n), of at most 1,000 that change, and fewer with options, 4 MiB of their records, and at times a list of at
         most 3,000 numbers
]]
local priority = tonumber(ARGV[1]) -- integer: the new priority
local wanted, wanted_at = ARGV, 2 -- repeated (id:text): the jobs

local queue = try(open_to_change(keys.meta, nil))
-- The commands in the middle of a move, each once on nothing. A server out of memory lets a job move, and does not
-- rewrite one that keeps its place.
local function try_moving(moves)
  if not moves then
    redis.call('ZADD', keys.prioritized, 'XX', '0', '')
  end
  redis.call('ZREM', keys.prioritized, '')
  redis.call('ZADD', keys.prioritized, 'XX', '0', '')
  redis.call('HDEL', keys.groups, '')
  redis.call('HGET', keys.groups, '')
  redis.call('HSET', keys.meta, 'codec', queue.codec)
end

local outcomes, has_tried = {}, false
for at = wanted_at, #wanted, 1 do
  if not may_do_more(queue) then
    break
  end
  local seq, record, run = find_job(keys, wanted[at])
  local outcome = not seq and 'absent' or state_of(run)
  queue.moved = (queue.moved or 0) + (record and #record or 0)
  if seq and outcome ~= 'claimed' and outcome ~= 'stopping' then
    local job = read_job(record, queue.usual)
    if job.priority ~= priority then
      if not has_tried then
        try_moving(outcome == 'ready')
        has_tried = true
      end
      local is_listed = outcome == 'ready' and priority == 0 and job.group == ''
      if is_listed and type(redis.pcall('RPUSH', keys.ready, seq)) == 'table' then
        -- The next call begins with it, and is refused.
        if #outcomes == 0 then
          redis.call('RPUSH', keys.ready, seq)
        end
        break
      end
      count_work(queue, job)
      happened(queue, 'reprioritized', seq, job, run, '')
      if outcome == 'ready' then
        leave_ready(keys, queue, job, seq)
      end
      job.priority = priority
      rewrite_job(keys.jobs, queue, seq, job, run, record)
      if outcome == 'ready' and not is_listed then
        stand_ready(keys, queue, job, seq, false)
      end
    end
    outcome = 'changed'
  end
  outcomes[#outcomes + 1] = outcome == 'stopping' and 'claimed' or outcome
end
if queue.left then
  sweep_ready(keys, queue, queue.left)
end
if queue.events then
  publish(keys.listeners, queue.events, queue.now_ms)
end
save_queue(keys.meta, queue)
return { 'changed', outcomes }
