--[[
Makes the leases of claimed jobs end `lease_ms` from now. An expired lease is renewed too, if the job was not reclaimed
yet. `refused` lists places (counted from 0) of jobs that were lost, and the reason: `cancelled` if the job is asked to
stop.

@returns extended  now_ms:integer ends_at_ms:integer refused:[at:integer why:text]
@cost    O(jobs x log n)
]]
local codec = ARGV[1] -- text: name of the codec that made the payloads
local lease_ms = tonumber(ARGV[2]) -- integer: length of their leases from now on
local claims, claims_at = ARGV, 3 -- repeated (number:text token:integer): the jobs

local queue = try(open_queue(keys.meta, codec))
local now_ms = math.floor(clock_us() / 1000)
local ends_ms = string.format('%.0f', now_ms + lease_ms)
local refused, ends = {}, {}
for at = claims_at, #claims, #CLAIMS do
  local why = judge_claim(keys.jobs, claims[at + CLAIMS.number], tonumber(claims[at + CLAIMS.token]))
  if why then
    refused[#refused + 1] = (at - claims_at) / #CLAIMS
    refused[#refused + 1] = why
  else
    ends[#ends + 1] = ends_ms
    ends[#ends + 1] = claims[at + CLAIMS.number]
  end
end
if #ends > 0 then
  -- A removal of nothing comes first, so that this works when the server is out of memory.
  redis.call('ZREM', keys.leases, '')
  note_due(queue, now_ms + lease_ms)
  save_queue(keys.meta, queue)
  redis.call('ZADD', keys.leases, unpack(ends))
end
return { 'extended', now_ms, now_ms + lease_ms, refused }
