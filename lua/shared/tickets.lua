-- Waiters, first come first served: a sorted set of tickets by number. A ticket is the text '<id> <kind> <lease_ms>
-- <listens> <units> <holder>'. Its id is '<process>.<number>', or '<process>.<number>@<asked_ms>' with the time of its
-- call, by the server's clock as its process knows it; and a process listens on '<channel>:<process>'. A release
-- notifies the process of the ticket:
--   granted <id> <token> <expires_at_ms> <now_ms>     granted for the requested lease; or, if it ends earlier, an offer
--                                                     until then: call, and it is granted
--   first <id> <recheck_ms>                           the ticket is first in line: call then, at the latest
--   come <id>                                         call now
-- A process that does not listen has died: its tickets are skipped. One whose connection is down for a while says so
-- when it calls again, and keeps its place. On a cluster without sharded channels the number of subscribers proves
-- nothing (`counted` is false); there everything is an offer. See docs/decisions/0031.

-- A ticket that calls now. `kind` and `units`: its request, of a lock or a semaphore.
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
  local id, process, kind, lease_ms, listens, units, holder =
    string.match(text, '^(([^.]*)%S*) (%S) (%d+) (%d) (%d+) (.*)$')
  return {
    text = text,
    id = id,
    process = process,
    kind = kind,
    lease_ms = tonumber(lease_ms),
    listens = tonumber(listens),
    units = tonumber(units),
    holder = holder,
  }
end

-- The text of a ticket as it would be if its process had stopped or begun to listen before it called.
local function other_text(ticket)
  local listens = ticket.listens
  ticket.listens = 1 - listens
  local text = format_ticket(ticket)
  ticket.listens = listens
  return text
end
