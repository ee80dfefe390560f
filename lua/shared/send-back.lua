-- Processes that did not take what they were offered.
local MOST_SENT_BACK = '1999'

-- Removes tickets, and tells their processes to come: each in one message.
local function remove_and_call(queue, texts, how)
  local tickets, messages = {}, {}
  for _, text in ipairs(texts) do
    local ticket = parse_ticket(text)
    local process = process_of(ticket)
    tickets[process] = tickets[process] or ticket
    messages[process] = messages[process] or {}
    table.insert(messages[process], 'come ' .. ticket.id)
  end
  for from = 1, #texts, 1000 do
    redis.call('ZREM', queue, unpack(texts, from, math.min(from + 999, #texts)))
  end
  for process, lines in pairs(messages) do
    tell_process(tickets[process], table.concat(lines, '\n'), how)
  end
end

-- Removes the tickets of processes that did not take what they were offered, so that each of these processes is waited
-- for once; but for the process of `own`, which calls and so is awake. Whoever stands in line again stands behind all others.
local function send_back(queue, late, own, how)
  late[process_of({ id = own })] = nil
  if not next(late) then
    return
  end
  local theirs = {}
  for _, text in ipairs(redis.call('ZRANGE', queue, '0', MOST_SENT_BACK)) do
    if late[process_of({ id = text })] then
      theirs[#theirs + 1] = text
    end
  end
  if theirs[1] then
    remove_and_call(queue, theirs, how)
  end
end
