-- Tells those who wait for a load what became of it: `stored <id>`, `ended <id>`. How: see shared/tickets.
-- elect bounds the length of the list.
local function tell_waiters(waiters, word, how)
  for id in string.gmatch(waiters, '%S+') do
    tell_process({ id = id, listens = 1 }, word .. ' ' .. id, how)
  end
end
