-- Tells the first ticket of another process when to ask: a process that sleeps cannot look after itself.
local function call_other(queue, process, recheck_ms, how)
  for _, text in ipairs(redis.call('ZRANGE', queue, '0', '99')) do
    local ticket = parse_ticket(text)
    if process_of(ticket) ~= process and tell_process(ticket, first_message(ticket, recheck_ms), how) then
      return
    end
  end
end
