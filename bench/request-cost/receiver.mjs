// Takes every letter.

import { createServer } from 'node:http'

const server = createServer((request, response) => {
  request.resume().on('end', () => response.end())
}).listen(0, '127.0.0.1', () => process.send?.(server.address().port))
