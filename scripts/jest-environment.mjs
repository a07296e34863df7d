// The environment of the tests: jest's own, in a context whose global object is an ordinary one. In the context that jest
// makes, every use of a global (`Math`, `Number`, `Map`) calls an interceptor, which makes tests that compute about three
// times slower.
import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

export default class OrdinaryGlobalEnvironment extends TestEnvironment {
  constructor(...options) {
    const { createContext } = vm;
    vm.createContext = () => createContext(vm.constants.DONT_CONTEXTIFY);
    try {
      super(...options);
    } finally {
      vm.createContext = createContext;
    }
  }
}
