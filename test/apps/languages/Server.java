import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.List;

/** What it was asked, as JSON: the smallest Java server. */
public class Server {
  public static void main(String[] arguments) throws Exception {
    int port = Integer.parseInt(System.getenv("PORT"));
    HttpServer server = HttpServer.create(new InetSocketAddress(port), 0);
    server.createContext("/", exchange -> {
      int bytes = exchange.getRequestBody().readAllBytes().length;
      System.err.println("asked for " + exchange.getRequestURI().getPath());
      String answer = String.format(
          "{\"method\":\"%s\",\"url\":\"%s\",\"bytes\":%d,\"context\":%b,\"stage\":\"%s\"}",
          exchange.getRequestMethod(), exchange.getRequestURI(), bytes,
          exchange.getRequestHeaders().containsKey("X-Context"), System.getenv("TOOL_STAGE"));
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.getResponseHeaders().put("Set-Cookie", List.of("a=1", "b=2"));
      exchange.sendResponseHeaders(200, answer.getBytes().length);
      exchange.getResponseBody().write(answer.getBytes());
      exchange.close();
    });
    server.start();
  }
}
