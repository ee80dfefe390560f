--[[
Acks and claims plain jobs, the fast path: for a queue without settings, priorities and groups, and while nothing is
due. Declines, and has done nothing, when there is other work to do, or when one of the acks or of the jobs to claim is
not plain. Then call `ack-and-claim`, with the same caller and call, because it also answers repeated calls. A worker
that claims fewer jobs than its limit `waits`, and there may be `chores`, as in that operation.

Returns the jobs in four parts: the token of the first job (the tokens of the others follow it one by one); their
numbers, separated by spaces; their names, or one name if all share it; and their payloads. Each job is in its first
attempt.

@returns claimed  now_ms:integer ends_at_ms:integer waits:flag recheck_ms:integer chores:integer token:integer numbers:text names:[name:text] payloads:[payload:bytes]
@returns declined
@cost    O((acks + limit) x log n),
         and at times 16 kB of notes for the statistics
]]
local codec = ARGV[1] -- text: name of the codec that made the payloads
local partitions = tonumber(ARGV[2]) -- integer: number of partitions of the queue; 0: not partitioned
local call_id = ARGV[3] -- CALL_ID: of this call; see shared/calls
local limit = tonumber(ARGV[5]) -- integer: jobs to claim at most
local lease_ms = tonumber(ARGV[6]) -- integer: length of their leases
local worker = ARGV[7] -- text: worker to wake, '<process>.<number>', followed by ':<lease_ms>' if it takes jobs by letter; empty: none
local how = ARGV[8] -- HOW: how waiters are notified
local acks, acks_at = ARGV, 11 -- repeated PLAIN_ACKS: completed jobs

local queue = read_queue(keys.meta, codec, call_id.caller)
begin_call(queue)
local now_us, now_ms = queue.now_us, queue.now_ms
if queue.codec ~= codec or queue.partitions ~= partitions or not is_quiet(queue, call_id) then
  return { 'declined' }
end
local acked = judge_plain(keys.jobs, acks, acks_at)
local taken, stored = look_at_listed(keys, limit)
if not acked or not taken then
  return { 'declined' }
end
local numbers = acked.numbers

local count, token, ends_ms, names, payloads = #taken, 0, 0, {}, {}
local acks_alone = count == 0
if #numbers > 0 then
  -- Done jobs are removed last. The right to that is tried before, on nothing; after it a server out of memory accepts
  -- the next writes.
  redis.call('HDEL', keys.jobs, '')
  if acks_alone then
    redis.call('ZREM', keys.leases, '')
  end
  queue.claimed, queue.acked = queue.claimed - acked.bytes, queue.acked + #numbers
  note_ran(queue, acked)
end
if queue.watch_ms <= now_ms then
  queue.watch_ms = 0
end
if count > 0 then
  queue.token = next_token(queue.token, now_us) - 1
  token, ends_ms = queue.token, now_ms + lease_ms
  names, payloads = lease_plain(keys, queue, numbers, taken, stored, ends_ms)
  if not names then
    -- Nothing is leased without the right to do so; a call that acks nothing is refused.
    if #numbers == 0 then
      redis.call('ZADD', keys.leases, 'XX', '0', '')
    end
    taken, count, token, ends_ms, names, payloads = {}, 0, 0, 0, {}, {}
  end
end
local waits, recheck_ms = worker ~= '' and count < limit, 0
if queue.idle > 0 or waits then
  -- Only here: a script creates its functions again in every call.
  queue.how = how
  local score = leave_idle(keys.idle, queue, worker)
  if count > 0 and count == limit and redis.pcall('EXISTS', keys.ready) == 1 then
    call_idle(keys.idle, queue, 1)
  elseif count > 0 and not waits then
    see_to(keys.idle, queue, ends_ms)
  elseif limit == 0 then
    see_to_watch(keys.idle, queue, score)
  end
  if waits then
    note_time(queue)
    local due_ms = queue.due_ms < NEVER_MS and queue.due_ms or nil
    recheck_ms = wait_idle(keys.idle, queue, worker, due_ms, score)
  end
end
if queue.noted then
  leave_notes(keys, queue, queue.noted)
end
local taken_text = table.concat(taken, ' ')
local answer = string.format('%s %d %s ;', exact(token), count, exact(ends_ms))
save_queue_and_call(keys.meta, queue, call_id, answer)
if #numbers > 0 then
  if acks_alone then
    redis.call('ZREM', keys.leases, unpack(numbers))
  end
  redis.call('HDEL', keys.jobs, unpack(acked.fields))
end
if queue.listened_ms > now_ms then
  local pieces = { '' }
  if #numbers > 0 then
    add_acked_line(pieces, acked, acks, acks_at)
  end
  if count > 0 then
    plain_line(pieces, '\n*claimed\t', taken_text, exact(token + 1), names)
  end
  publish_pieces(keys.listeners, pieces, now_ms)
end
return {
  'claimed',
  now_ms,
  ends_ms,
  waits and 1 or 0,
  recheck_ms,
  queue.chores,
  count > 0 and token + 1 or 0,
  taken_text,
  names,
  payloads,
}
