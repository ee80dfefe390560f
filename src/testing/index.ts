// For those who write a driver, a binding, or tests that must move the time.

export type { DriverCase, DriverContext, Need, OpenedDriver } from './driver-suite.ts'
export { casesFor, driverSuite } from './driver-suite.ts'
export { runOperation } from './run-operation.ts'
export { onTestClock, START_US, setTestClock, TEST_CLOCK, withTestClock } from './test-clock.ts'
export type { Contract, ContractOperation } from './vector-contract.ts'
export type { Step, Vector, VectorFile } from './vector-file.ts'
export { playVector, type VectorPlace } from './vector-player.ts'
