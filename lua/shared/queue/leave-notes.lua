-- What calls leave for the statistics: notes, one behind the other. Each has the length of its key in a byte, the key, which
-- is a letter and the name of the jobs, or none where that is too long; a bucket in a byte, how many jobs in two, and as
-- doubles a sum and the greatest.
--   w a t b    jobs that waited, or ran until they were acked, retried, buried, all of them as long as the bucket says (see
--              shared/queue/bucket); in milliseconds
--   e d r c    jobs that were enqueued, died without having run to an end, were reclaimed, cancelled
--   m          from here on notes are of the minute since 1970 that is in the place of the sum
-- When there are many of them they are folded: put into the hash of statistics. Both are gone when the newest day that they know is
-- no longer told: a queue that nobody uses any more keeps no statistics.
local NOTE = '>Bc0BHdd'
local MOST_NOTES = 16384
-- A day more than are told.
local NOTES_KEPT_MS = '7862400000'

-- Notes end no call: where the user misses a right to them there are none.
local function leave_notes(notes, stats, queue, noted, now_ms)
  local minute = now_ms / 60000 - now_ms / 60000 % 1
  local is_new = minute ~= queue.minute
  if is_new then
    noted = struct.pack(NOTE, 1, 'm', 0, 0, minute, 0) .. noted
  end
  local length = redis.pcall('APPEND', notes, noted)
  if type(length) ~= 'number' then
    return
  end
  queue.minute = minute
  if length > MOST_NOTES then
    if fold(notes, stats) then
      redis.pcall('PEXPIRE', stats, NOTES_KEPT_MS)
      queue.minute = 0
    end
  elseif is_new then
    redis.pcall('PEXPIRE', notes, NOTES_KEPT_MS)
  end
end
