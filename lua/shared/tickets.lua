-- Those who wait, first come first served: a sorted set of tickets by number.
-- A ticket is the text '<id> <kind> <lease_ms> <listens> <units> <holder>'. Its id is '<process>.<number>', or
-- '<process>.<number>@<asked_ms>' with the time at which it asked, by the server's clock as its process knows it; and
-- a process listens on '<channel>:<process>'. Whoever frees something tells the process of the ticket:
--   granted <id> <token> <expires_at_ms> <now_ms>     it is yours for the lease you asked for; or, where it ends
--                                                     earlier, it is kept for you until then: ask, and you have it
--   first <id> <recheck_ms>                           you are the first in line: ask then, at the latest
--   come <id>                                         ask now
-- A process that does not listen has died: its tickets are passed over. One whose line is gone for a while says so when it asks
-- again, and keeps its place. On a cluster without sharded channels the number
-- of subscribers proves nothing (`counted` is false); there everything is an offer. See docs/decisions/0031.

-- One that asks now. `kind` and `units`: what it asks for, of a lock or a semaphore.
local function new_ticket(id, kind, lease_ms, listens, units, holder)
  return {
    id = id,
    kind = kind,
    lease_ms = lease_ms,
    listens = listens and 1 or 0,
    units = units,
    holder = holder,
  }
end

local function format_ticket(ticket)
  return string.format(
    '%s %s %d %d %d %s',
    ticket.id,
    ticket.kind,
    ticket.lease_ms,
    ticket.listens,
    ticket.units,
    ticket.holder
  )
end

local function parse_ticket(text)
  local id, kind, lease_ms, listens, units, holder = string.match(text, '^(%S+) (%S) (%d+) (%d) (%d+) (.*)$')
  return {
    text = text,
    id = id,
    kind = kind,
    lease_ms = tonumber(lease_ms),
    listens = tonumber(listens),
    units = tonumber(units),
    holder = holder,
  }
end

-- The text of a ticket as it would be had its process ceased to listen, or begun to, before it asked.
local function other_text(ticket)
  local listens = ticket.listens
  ticket.listens = 1 - listens
  local text = format_ticket(ticket)
  ticket.listens = listens
  return text
end
