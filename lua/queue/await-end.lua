--[[
Returns how a job ended, or registers a waiter for its end. A caller that `waits` gets the message 'ended <waiter> 0'
when the job ends. Then it calls again, with the returned `number` and `id` and the time of its first call. `state`:
done, dead or cancelled. An end is kept as long as the job says, and for a minute if there was a waiter, or if it
`comes` again to wait. `absent`: there is no such job, or its end was not kept. Beyond a hundred waiter names the oldest
is no longer notified; waiters of one process for one job share one name. Safe to repeat.

@returns ended   now_ms:integer state:text at_ms:integer kind:text message:text result:bytes
@returns waits   now_ms:integer number:integer id:text
@returns left
@returns absent
@cost    O(1)
]]
local codec = ARGV[1] -- text: name of the codec that made the payloads
local id = ARGV[2] -- text: the job
local waiter = ARGV[3] -- text: waiter to notify, '<process>.<number>'; empty: none
local leaves = ARGV[4] == '1' -- flag: whether the waiter stops waiting
local number = tonumber(ARGV[5]) -- integer: number of the job that it waits for; 0: this is the first call
local since_ms = tonumber(ARGV[6]) -- integer: start of the wait
local comes = ARGV[7] == '1' -- flag: whether the waiter calls again to wait: the queue keeps the end until then

local queue = try(open_queue(keys.meta, codec))
local now_ms = math.floor(clock_us() / 1000)
local seq, record, run = find_job(keys, id)
if leaves then
  leave_waiters(keys.jobs, seq, waiter)
  return { 'left' }
end
local kept = kept_result(keys.results, id, now_ms)
local was_missed = kept and kept.number == number and kept.at_ms >= since_ms
local ended = was_missed and kept or seq and result_of(keys.jobs, seq, run) or not seq and kept
if ended then
  return { 'ended', now_ms, ENDS[ended.state], ended.at_ms, ended.kind, ended.message, ended.result }
elseif not seq then
  return { 'absent' }
end
if waiter ~= '' then
  enter_waiters(keys.jobs, seq, waiter)
end
if waiter ~= '' or comes then
  flag_job(keys.jobs, queue, seq, record, run, FLAGS.awaited)
end
local own = read_job(record).id
return { 'waits', now_ms, tonumber(seq), own == '' and seq or own }
