--[[
Puts plain jobs into a queue, the fast path: all of one name, none with an option or with a payload of more than 16 kB.
Their numbers are `first`, `first + 1` and so on, in the order of the payloads; no other job comes between those of one
call. A repeated call enqueues nothing and returns the same answer. A single job is claimed at once for a waiting worker
that takes jobs by letter; see shared/queue/idle.

@returns enqueued  first:integer
@returns unagreed
@cost    O(jobs),
         and at times 16 kB of notes for the statistics
]]
local codec = ARGV[1] -- text: name of the codec that made the payloads
local spread = ARGV[2] -- PARTITIONS: number of partitions of the queue
local call_id = ARGV[4] -- CALL_ID: of this call; see shared/calls
local how = ARGV[6] -- HOW: how waiters are notified
local name = ARGV[9] -- text: name of the jobs, 1 to 254 bytes
local payloads, payloads_at = ARGV, 10 -- repeated (payload:bytes): payload of each job

local queue, remembered = try(open_call(keys.meta, nil, call_id, codec, spread.partitions))
if not take_up(keys.meta, queue, spread) then
  return { 'unagreed' }
end
if remembered then
  return { 'enqueued', tonumber(remembered) }
end
if name == '' or #name > 254 then
  return redis.error_reply('INVALID name: 1 to 254 bytes')
end
local count = #payloads - payloads_at + 1
local first = number_jobs(queue, count)
local form, base = exact_range(first, queue.last)
local first_seq = string.format(form, first - base)
if queue.usual == '' then
  queue.usual = name
end
local head = plain_head(name, queue.usual)
local now_ms = queue.now_ms
local handed, call_others
if queue.idle > 0 then
  -- Only here: a script creates its functions again in every call.
  queue.how = how
  local payload, called = payloads[payloads_at], false
  if count == 1 and may_hand(keys.ready, queue, codec, name, payload) then
    begin_queue(keys.meta, queue)
    handed, called = hand_over(keys, queue, first_seq, name, payload, head .. payload)
  end
  call_others = not called and function()
    call_idle(keys.idle, queue, math.min(count, 8))
  end
end
if not handed then
  -- Counted by hand: the length operator searches the table.
  local format, place = string.format, first - base - payloads_at
  local fields, numbers, bytes = {}, {}, 0
  widen(queue, MARKS.wide_jobs, fields, '~')
  local filled = #fields
  for at = payloads_at, #payloads, 1 do
    local seq, payload = format(form, place + at), payloads[at]
    if #payload > INLINE_BYTES then
      return redis.error_reply('INVALID payloads: 16384 bytes at most, larger ones with enqueue')
    end
    local record = head .. payload
    filled, bytes = filled + 2, bytes + #record
    fields[filled - 1], fields[filled] = seq, record
    numbers[at - payloads_at + 1] = seq
  end
  begin_queue(keys.meta, queue)
  for from = 1, filled, 2000 do
    redis.call('HSET', keys.jobs, unpack(fields, from, math.min(from + 1999, filled)))
  end
  for from = 1, count, 1000 do
    local to = math.min(from + 999, count)
    if type(redis.pcall('RPUSH', keys.ready, unpack(numbers, from, to))) == 'table' then
      take_back_records(keys.jobs, fields)
      redis.call('RPUSH', keys.ready, unpack(numbers, from, to))
    end
  end
  queue.ready = queue.ready + bytes
  if call_others then
    call_others()
  end
end
if queue.listened_ms > now_ms then
  local numbers, names = {}, { name }
  for place = 1, count do
    numbers[place] = string.format(form, first - base + place - 1)
  end
  local pieces = { '' }
  plain_line(pieces, '\n*enqueued\t', table.concat(numbers, ' '), '', names)
  if handed then
    plain_line(pieces, '\n*claimed\t', first_seq, exact(queue.token), names)
  end
  publish_pieces(keys.listeners, pieces, now_ms)
end
leave_notes(keys, queue, count_note('e' .. name, count) .. (queue.noted or ''))
save_queue_and_call(keys.meta, queue, call_id, first_seq)
return { 'enqueued', first }
