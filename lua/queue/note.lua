--[[
Notes the progress of attempts, and lines in the logs of their jobs: a job keeps its newest hundred lines, cut at 1,024
bytes. Each note is handled on its own: `refused` lists places (counted from 0) of attempts that have lost their job,
and the reason. With token 0 any caller may add a log line, also by the job's own id, in any state. Progress and log are
removed with the job. A repeated call returns the same answer and notes nothing more.

@returns noted  refused:[at:integer why:text]
@cost    O(notes)
]]
local codec = ARGV[1] -- text: name of the codec that made the payloads
local call_id = ARGV[2] -- CALL_ID: of this call; see shared/calls
local notes, notes_at = ARGV, 4 -- repeated (number:text token:integer what:text value:bytes): `what`: progress or log

local queue, remembered = try(open_call(keys.meta, nil, call_id, codec))
if remembered then
  return { 'noted', parse_refused(remembered) }
end
local refused, logs = {}, {}
for at = notes_at, #notes, #NOTES do
  local token, what, value =
    tonumber(notes[at + NOTES.token]), notes[at + NOTES.what], notes[at + NOTES.value]
  local seq, record, run = find_job(keys, notes[at + NOTES.number])
  local why = not seq and 'absent' or token > 0 and why_not(run, token)
  if why then
    refused[#refused + 1] = (at - notes_at) / #NOTES
    refused[#refused + 1] = why
  else
    flag_job(keys.jobs, queue, seq, record, run, FLAGS.stored)
    if what == 'progress' then
      redis.call('HSET', keys.jobs, 'p' .. seq, value)
      happened(queue, 'progress', seq, read_job(record, queue.usual), run, '')
    else
      logs[seq] = add_line(logs[seq] or redis.call('HGET', keys.jobs, 'l' .. seq), value, queue.now_ms)
      happened(queue, 'logged', seq, read_job(record, queue.usual), run, value)
    end
  end
end
for seq, log in pairs(logs) do
  redis.call('HSET', keys.jobs, 'l' .. seq, log)
end
if queue.events then
  publish(keys.listeners, queue.events, queue.now_ms)
end
if queue.began_us > 0 then
  remember_answer(keys.meta, call_id, queue.now_ms, format_places(refused, {}))
end
return { 'noted', refused }
