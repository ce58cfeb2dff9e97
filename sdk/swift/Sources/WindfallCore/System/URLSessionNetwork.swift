import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Posts with a session that keeps nothing and follows no redirects.
package final class URLSessionNetwork: Network {
    private let session: URLSession

    package init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        // The defaults name the app with its build, the system and the languages of the user.
        configuration.httpAdditionalHeaders = ["User-Agent": "windfall-swift", "Accept-Language": "en"]
        configuration.timeoutIntervalForRequest = answerMs / 1000
        session = URLSession(configuration: configuration, delegate: NoRedirects(), delegateQueue: nil)
    }

    package func post(_ request: Request) async -> Answer? {
        guard let url = URL(string: request.url) else { return nil }
        var post = URLRequest(url: url)
        post.httpMethod = "POST"
        post.httpBody = request.body
        for (name, value) in request.headers { post.setValue(value, forHTTPHeaderField: name) }
        let running = Running()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { done in
                let task = session.dataTask(with: post) { data, response, _ in
                    done.resume(returning: (response as? HTTPURLResponse).flatMap { Answer($0, data) })
                }
                running.start(task)
            }
        } onCancel: {
            running.cancel()
        }
    }
}

extension Answer {
    fileprivate init?(_ response: HTTPURLResponse, _ data: Data?) {
        guard let data else { return nil }
        self.init(
            status: response.statusCode, body: data,
            retryAfter: response.value(forHTTPHeaderField: "retry-after"))
    }
}

private final class NoRedirects: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}

/// A task that may be cancelled before it starts.
private final class Running: @unchecked Sendable {
    private let lock = NSLock()
    private var task: URLSessionTask?
    private var isCancelled = false

    func start(_ task: URLSessionTask) {
        lock.lock()
        self.task = task
        let isCancelled = isCancelled
        lock.unlock()
        task.resume()
        if isCancelled { task.cancel() }
    }

    func cancel() {
        lock.lock()
        isCancelled = true
        let task = task
        lock.unlock()
        task?.cancel()
    }
}
