--[[
Returns jobs with a tag, or, if that is empty, the tracked jobs; the oldest first. Jobs of another name or state are
left out of the page (empty: any). `next` is the cursor for the following call, '0' at the end. A job that exists all
the time is found once.

@returns page  now_ms:integer next:text jobs:[number:integer id:text name:text state:text attempts:integer token:integer at_ms:integer priority:integer max_attempts:integer max_run_ms:integer group:text unique:text trace:text tags:text bytes:integer payload:bytes failed_at_ms:integer failure:text message:text progress:bytes result:bytes? tracked:flag]
@cost    O(log n + limit), and 4 MiB of payloads
@reads
]]
local codec = ARGV[1] -- text: name of the codec that made the payloads
local tag = ARGV[2] -- text: the tag
local after = ARGV[3] -- text: the cursor; 0: from the start
local limit = tonumber(ARGV[4]) -- integer: how many to look at
local name = ARGV[5] -- text: the name
local state = ARGV[6] -- text: as in get

local queue = try(open_queue(keys.meta, codec))
local from = after == '0' and '[' .. tag .. '\0' or '(' .. tag .. '\0' .. after
local numbers = redis.call('ZRANGEBYLEX', keys.tagged, from, '(' .. tag .. '\1', 'LIMIT', '0', limit)
for at, member in ipairs(numbers) do
  numbers[at] = string.match(member, '%d+$')
end
local reported = {}
local looked = report_page(reported, keys.jobs, numbers, queue.usual, function(_, record, run)
  local named = name == '' or read_job(record, queue.usual).name == name
  return named and (state == '' or state_of(run) == state)
end)
local is_end = looked == #numbers and #numbers < limit
local next_number = is_end and '0' or numbers[looked]
return { 'page', math.floor(clock_us() / 1000), next_number, reported }
