--[[
Lists dead jobs whose failure was of a kind, the oldest first. `next` is the cursor, or -1 at the end. A job that is
dead of it all the time is on one page, whatever other jobs do meanwhile.

@returns page  now_ms:integer next:integer jobs:[number:integer id:text name:text state:text attempts:integer token:integer at_ms:integer priority:integer max_attempts:integer max_run_ms:integer group:text unique:text trace:text tags:text bytes:integer payload:bytes failed_at_ms:integer failure:text message:text progress:bytes result:bytes? tracked:flag]
@cost    O((limit + log n) x log n), n = dead jobs, and 4 MiB of payloads
@reads
]]
local codec = ARGV[1] -- text: name of the codec that made the payloads
local kind = ARGV[2] -- text: kind of their failure
local after = tonumber(ARGV[3]) -- integer: the cursor; 0: from the start
local limit = tonumber(ARGV[4]) -- integer: how many at most

local queue = try(open_queue(keys.meta, codec))
local numbers, is_end = page_of_kind(keys, kind, after, limit)
local reported = {}
local looked = report_page(reported, keys.jobs, numbers, queue.usual, function()
  return true
end)
local next_number = is_end and looked == #numbers and -1 or tonumber(numbers[looked])
return { 'page', math.floor(clock_us() / 1000), next_number, reported }
