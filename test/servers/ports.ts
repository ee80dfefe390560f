export { freePort } from '../../server/engine/free-port.ts'
