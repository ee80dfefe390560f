--[[
Tracks jobs, or stops tracking them: events show tracked jobs as such, and `search-tagged` without a tag finds all
tracked jobs. Returns `tracked`, `untracked` or `absent` for each. Safe to repeat.

@returns tracking  outcomes:[outcome:text]
@cost    O(jobs x log n)
]]
local follows = ARGV[1] == '1' -- flag: whether to track them from now on
local wanted, wanted_at = ARGV, 2 -- repeated (id:text): the jobs

local queue = try(open_to_change(keys.meta, nil))
local outcomes = {}
for at = wanted_at, #wanted, 1 do
  local seq, record, run = find_job(keys, wanted[at])
  local is_tracked = run ~= nil and has_flag(run.flags, FLAGS.tracked)
  if seq and follows ~= is_tracked then
    local job = read_job(record, queue.usual)
    if follows then
      redis.call('ZADD', keys.tagged, 'XX', '0', '')
      run = flag_job(keys.jobs, queue, seq, record, run, FLAGS.tracked)
      redis.call('ZADD', keys.tagged, '0', '\0' .. seq)
      happened(queue, 'tracked', seq, job, run, '')
    else
      redis.call('ZREM', keys.tagged, '')
      -- Listeners that track it are notified.
      happened(queue, 'untracked', seq, job, run, '')
      unflag_job(keys.jobs, seq, run, FLAGS.tracked)
      redis.call('ZREM', keys.tagged, '\0' .. seq)
    end
  end
  outcomes[#outcomes + 1] = not seq and 'absent' or follows and 'tracked' or 'untracked'
end
if queue.events then
  publish(keys.listeners, queue.events, queue.now_ms)
end
return { 'tracking', outcomes }
