-- Processes that did not take what they were offered.
-- Removes the tickets of processes that did not take what they were offered, so that each of these processes is waited
-- for once; but for the process of `own`, which calls and so is awake. Whoever stands in line again stands behind all others.
local function send_back(queue, late, own, how)
  late[process_of({ id = own })] = nil
  if not next(late) then
    return
  end
  for _, text in ipairs(redis.call('ZRANGE', queue, '0', '499')) do
    local ticket = parse_ticket(text)
    if late[process_of(ticket)] then
      redis.call('ZREM', queue, text)
      tell_process(ticket, 'come ' .. ticket.id, how)
    end
  end
end
