--[[
Adds tags to a job, after those that it has, or removes some; it adds no tag twice. Returns the resulting tags,
separated by '\0'. `full`: it would have more than twenty; nothing is changed. Safe to repeat.

@returns tagged  tags:text
@returns full
@returns absent
@cost    O(tags x log n)
]]
local id = ARGV[1] -- text: the job
local adds = ARGV[2] == '1' -- flag: whether to add them; else to remove them
local tags, tags_at = ARGV, 3 -- repeated (tag:text): the tags

local queue = try(open_to_change(keys.meta, nil))
local seq, record, run = find_job(keys, id)
if not seq then
  return { 'absent' }
end
local job = read_job(record, queue.usual)
local before = job.tags
local after, count = other_tags(before, tags, tags_at, adds)
if adds and count > MOST_TAGS then
  return { 'full' }
end
if after ~= before then
  redis.call('ZADD', keys.tagged, 'XX', '0', '')
  redis.call('ZREM', keys.tagged, '')
  job.tags = after
  rewrite_job(keys.jobs, queue, seq, job, run, record)
  leave_tags(keys.tagged, seq, before, false)
  enter_tags(keys.tagged, seq, after)
  happened(queue, 'tagged', seq, job, run, '')
end
if queue.events then
  publish(keys.listeners, queue.events, queue.now_ms)
end
save_queue(keys.meta, queue)
return { 'tagged', after }
