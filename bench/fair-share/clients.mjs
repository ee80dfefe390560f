// Clients of one tenant who read its largest page, in a process of their own: `node clients.mjs <port> <how>`. Ends with its parent.

import { connect } from 'node:net'

const [port, how] = [Number(process.argv[2]), process.argv[3]]
const REQUEST = 'GET /v1/feeds/large/messages?limit=1000 HTTP/1.1\r\nHost: x\r\nX-Project-ID: large\r\n\r\n'

/** `requests`: what is sent at first; then one for each answer, where they are read. */
function client(requests, reads, livesMs) {
  const socket = connect(port, '127.0.0.1')
  let due = 0
  socket.on('error', () => undefined)
  socket.write(REQUEST.repeat(requests))
  if (!reads) socket.pause()
  socket.on('data', (chunk) => {
    if (due <= 0) {
      const head = chunk.toString('latin1', 0, 2000)
      const end = head.indexOf('\r\n\r\n')
      due = Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0) + end + 4
    }
    due -= chunk.length
    if (due === 0) socket.write(REQUEST)
  })
  if (livesMs > 0) setTimeout(() => socket.destroy(), livesMs)
}

const many = (count, work) => {
  for (let at = 0; at < count; at += 1) work()
}

if (how === 'read') many(16, () => client(1, true, 0))
if (how === 'never read') many(16, () => client(1, false, 0))
if (how === 'pipeline') client(300, false, 0)
if (how === 'leave') setInterval(() => many(40, () => client(1, false, 50)), 100)
process.on('disconnect', () => process.exit())
