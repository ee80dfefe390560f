--[[
Sets the limit, for all handles and whatever limit they pass, until a clear of the semaphore, or 30 days without use. A
granted permit stays, even above the limit: nothing is granted until it fits. Of the first 1,000 in line, those that ask
for more than the limit leave the line and are notified to call again; the others learn of it when they are first.
`more`: as `release`.

@returns resized  more:flag
@cost    O(log n), a look at 1,000 tickets, and as `release`
]]
local limit = tonumber(ARGV[1]) -- integer: most weight to grant at once
local channel = ARGV[2] -- text: prefix of the channels of processes
local claim_ms = tonumber(ARGV[3] or 1000) -- integer: how long waiters have to confirm a hand-off
local sharded = ARGV[4] == '1' -- flag: whether to use sharded channels
local counted = ARGV[5] ~= '0' -- flag: whether a channel without listeners means that its process is dead

local semaphore = try(open_semaphore(keys.state, clock_us()))
semaphore.claim_ms = claim_ms
semaphore.how = { channel = channel, sharded = sharded, counted = counted }
semaphore.limit = limit
semaphore.resized = 1
save_semaphore(keys, semaphore)
reap(keys, semaphore)
local served
if semaphore.last_ticket > 0 then
  for _, text in ipairs(redis.call('ZRANGE', keys.queue, '0', '999')) do
    local ticket = parse_ticket(text)
    if ticket.units > limit then
      redis.call('ZREM', keys.queue, text)
      notify_process(ticket, 'come ' .. ticket.id, semaphore.how)
    end
  end
  served = serve(keys, semaphore, '')
end
save_semaphore(keys, semaphore)
return { 'resized', served == 'more' and 1 or 0 }
