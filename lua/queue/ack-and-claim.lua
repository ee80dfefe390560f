--[[
Acks completed jobs, and claims others. `refused` lists places (from 0) of acks whose job was lost, and why. Jobs are
claimed in this order: those whose lease ended, then by priority; within one priority the oldest first, groups in turn.
A worker that claims fewer jobs than its limit `waits`, and is woken when there is work. One of the waiting workers
calls again after `recheck_ms` (0: not needed), and so does one that got nothing although more is ready after entries of
removed jobs. A repeated call acks and claims nothing more, returns the same jobs as far as they are still claimed, and
does not wait. `chores` is work for some process; 0: none.

@returns claimed  now_ms:integer ends_at_ms:integer waits:flag recheck_ms:integer paused:flag chores:integer refused:[at:integer why:text] jobs:[number:integer token:integer attempt:integer name:text payload:bytes] options:[at:integer id:text priority:integer max_attempts:integer max_run_ms:integer group:text trace:text tags:text]
@cost    O((acks + limit) x log n), and at most 100 due jobs, 100 lost ones, 100 recurring ones, 200 groups and 2,000
         entries of removed jobs, 16 kB a job, 4 MiB of larger payloads, and at times 16 kB of statistics notes
]]
local codec = ARGV[1] -- text: name of the codec that made the payloads
local partitions = tonumber(ARGV[2]) -- integer: number of partitions of the queue; 0: not partitioned
local call_id = ARGV[3] -- CALL_ID: of this call; see shared/calls
local limit = tonumber(ARGV[5]) -- integer: jobs to claim at most; 0: none, and the worker stops waiting
local lease_ms = tonumber(ARGV[6]) -- integer: length of their leases
local worker = ARGV[7] -- text: worker to wake, '<process>.<number>', followed by ':<lease_ms>' if it takes jobs by letter; empty: none
local how = ARGV[8] -- HOW: how waiters are notified
local acks, acks_at = ARGV, 11 -- repeated ACKS: completed jobs

local queue, remembered = try(open_call(keys.meta, how, call_id, codec, partitions))
local settings = parse_settings(queue.settings)
if settings.rate_limit > 0 then
  settings.rate_burst = read_burst(keys.meta, 'burst', settings)
end
local paused = settings.paused and 1 or 0
if remembered then
  local token, count, ends_ms, text = string.match(remembered, '^(%d+) (%d+) (%d+) (.*)$')
  local found = claimed_before(keys, tonumber(token), tonumber(count), ends_ms)
  local jobs, options = report_again(keys.jobs, found, tonumber(count), queue.usual)
  return { 'claimed', queue.now_ms, tonumber(ends_ms), 0, 0, paused, 0, parse_refused(text), jobs, options }
end

local has_tried = false
if limit > 0 and queue.marks % MARKS.dependencies > 0 then
  -- Priorities, or groups.
  has_tried = try_taking(keys, queue, #acks >= acks_at)
end
local refused
do
  refused, queue.over = carry_out_acks(keys, queue, settings, acks, acks_at, has_tried)
end
if limit > 0 and queue.watch_ms <= queue.now_ms then
  queue.watch_ms = 0
end
if queue.marks > MARKS.priorities then
  -- Groups with a rate, and recurrences, must continue meanwhile. Due work is checked every second then.
  queue.is_behind = is_behind(queue)
end
if
  limit > 0 and (queue.due_ms <= queue.now_ms or (queue.is_behind and queue.due_ms > queue.now_ms + 1000))
then
  bring_due(keys, queue, settings, limit)
end
local settled = 0
if queue.settling then
  settled = settle_dependents(keys, queue, 100)
  queue.due_ms = math.min(queue.due_ms, next_due_ms(keys, queue, settings) or NEVER_MS)
end
local score = leave_idle(keys.idle, queue, worker)
if limit == 0 then
  local frees = settled > 0 or (queue.over > 0 and may_free_others(queue, settings))
  -- A worker that stops waiting may have been called for this work: call another one.
  if (frees or (worker ~= '' and not settings.paused)) and has_more(keys, queue) then
    call_idle(keys.idle, queue, 1)
  end
  see_to_watch(keys.idle, queue, score)
  notify_others(keys, queue)
  save_queue_and_call(keys.meta, queue, call_id, format_claimed(0, 0, 0, refused))
  return { 'claimed', queue.now_ms, 0, score and 1 or 0, 0, paused, queue.chores, refused, {}, {} }
end

if is_marked(queue, MARKS.groups) then
  release_held(keys, queue.now_us, 100)
end
local room = room_of(keys.leases, queue, settings, limit)
local jobs, options, count, token, ends_ms = {}, {}, 0, 0, 0
if room > 0 then
  local is_cut
  jobs, options, count, token, ends_ms, is_cut = claim_jobs(keys, queue, settings, room, lease_ms)
  if not jobs then
    jobs, options, count, token, ends_ms, room = {}, {}, 0, 0, 0, 0
  elseif is_cut then
    -- It calls again for the others.
    room, limit = count, count
  end
end
local waits = worker ~= '' and count < limit
local recheck_ms = 0
if queue.idle > 0 then
  if count == room and count > 0 and has_more(keys, queue) then
    call_idle(keys.idle, queue, 1)
  elseif count > 0 and not waits then
    see_to(keys.idle, queue, next_change_ms(keys.held, queue, settings, ends_ms))
  end
end
if waits then
  recheck_ms = wait_for_work(keys, queue, settings, worker, score, room > count)
elseif count == 0 and room > 0 and queue.ready > 0 and not queue.is_refused and has_more(keys, queue) then
  -- The entries it looked at belong to removed jobs.
  recheck_ms = 1
end
if queue.is_refused and recheck_ms > 0 then
  recheck_ms = math.max(recheck_ms, 1000)
end
notify_others(keys, queue)
save_queue_and_call(keys.meta, queue, call_id, format_claimed(token, count, ends_ms, refused))
waits = waits and 1 or 0
return { 'claimed', queue.now_ms, ends_ms, waits, recheck_ms, paused, queue.chores, refused, jobs, options }
