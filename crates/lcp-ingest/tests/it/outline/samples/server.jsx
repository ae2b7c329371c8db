#!/usr/bin/env node
'use strict';

const http = require('http');
const routes = {
  '/': (req, res) => res.end('home'),
  '/about': (req, res) => res.end('about'),
};

/**
 * Answers a request.
 * @param {object} request
 */
function answer(request, response) {
  const handler = routes[request.url];
  return handler ? handler(request, response) : response.end();
}

class Server extends http.Server {
  #port = 80;
  static names = ['a', 'b'];

  /** Begins. */
  start(port = 80) {
    this.listen(port);
  }

  get port() {
    return this.#port;
  }
}

export const Page = ({ name }) => {
  return <p>{name}</p>;
};

const add = function (a, b) {
  return a + b;
};

function* numbers() {
  yield 1;
}

new Server().start();

module.exports = { answer, Server };
module.exports.late = async (x) => {
  return x;
};
